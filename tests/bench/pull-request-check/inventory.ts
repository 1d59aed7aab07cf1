import type { BenchServer } from "./bench-server.ts";

export const inventory: BenchServer = {
  name: "inventory",
  calls: [
    ...["SKU-0001", "SKU-0005", "SKU-0019", "SKU-0034", "SKU-7777"].map((sku) => ["get_item", { sku }] as const),
    ["low_stock", {}],
    ["low_stock", { threshold: 60 }],
    ["quote", { sku: "SKU-0002", quantity: 10 }],
    ["quote", { sku: "SKU-0011", quantity: 3, express: true }],
    ["quote", { sku: "SKU-0030", quantity: 250 }],
    ["quote", { sku: "SKU-0000", quantity: 1 }],
  ],
  questions: [
    "Look up item SKU-0005 of the stock.",
    "Of which items are fewer than 40 left?",
    "Quote the price and shipping of 10 pieces.",
  ],
  faults: [
    {
      what: "argument quantity renamed to count",
      change: [
        ["def quote(sku: str, quantity: int,", "def quote(sku: str, count: int,"],
        [
          "    time.sleep(random.uniform(0.01, 0.02))\n",
          "    quantity = count\n    time.sleep(random.uniform(0.01, 0.02))\n",
        ],
      ],
    },
    {
      what: "weight in pounds, still called kg",
      change: [
        ["weight = item.weight_kg * quantity", "weight = item.weight_kg * quantity * 2.2046"],
        ["weight * 0.35", "weight / 2.2046 * 0.35"],
      ],
    },
    {
      what: "field price lost",
      change: [
        [
          '    return item.model_copy(update={"on_hand": item.on_hand + random.randint(-2, 2)})',
          '    found = item.model_copy(update={"on_hand": item.on_hand + random.randint(-2, 2)})\n    return found.model_dump(exclude={"price"})',
        ],
        ["def get_item(sku: str) -> Item:", "def get_item(sku: str) -> dict:"],
      ],
    },
    { what: "default of the threshold changed", change: [["threshold: int = 35", "threshold: int = 45"]] },
    { what: "shipping rounded to whole numbers", change: [["round(shipping, 2)", "round(shipping)"]] },
    {
      what: "time of the quote in milliseconds",
      change: [["int(time.time()) + 3600", "int(time.time() * 1000) + 3_600_000"]],
    },
  ],
  harmless: [
    { what: "comment", change: [["NAMES =", "# What we sell.\nNAMES ="]] },
    { what: "random part of an id from elsewhere", change: [["uuid.uuid4().hex[:12]", "random.randbytes(6).hex()"]] },
    {
      what: "fields in another order",
      change: [["    weight_kg: float\n    price: float\n", "    price: float\n    weight_kg: float\n"]],
    },
    {
      what: "new field",
      change: [['        "shipping": round', '        "carrier": "post",\n        "shipping": round']],
    },
    {
      what: "new field of the model",
      change: [["    shelf: str | None = None\n", '    shelf: str | None = None\n    unit: str = "piece"\n']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef quote",
          '@mcp.tool\ndef shelves() -> list[str]:\n    """Where things lie."""\n    return sorted({item.shelf for item in ITEMS.values() if item.shelf})\n\n\n@mcp.tool\ndef quote',
        ],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.01, 0.02))\n", ""]] },
    {
      what: "another order of a list without order",
      change: [["    random.shuffle(low)\n    return low", "    return random.sample(low, len(low))"]],
    },
    {
      what: "checks by a helper",
      change: [
        [
          '    if sku not in ITEMS:\n        raise ToolError(f"SKU {sku} is not stocked")\n    item = ITEMS[sku]\n    return item',
          "    item = stocked(sku)\n    return item",
        ],
        [
          "@mcp.tool\ndef get_item",
          'def stocked(sku: str) -> Item:\n    try:\n        return ITEMS[sku]\n    except KeyError:\n        raise ToolError(f"SKU {sku} is not stocked") from None\n\n\n@mcp.tool\ndef get_item',
        ],
      ],
    },
    {
      what: "levels by another distribution",
      change: [
        ["item.on_hand + random.randint(-2, 2)", "item.on_hand + random.choice([-2, -1, -1, 0, 0, 0, 1, 1, 2])"],
      ],
    },
  ],
};
