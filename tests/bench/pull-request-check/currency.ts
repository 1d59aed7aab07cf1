import type { BenchServer } from "./bench-server.ts";

export const currency: BenchServer = {
  name: "currency",
  calls: [
    ...[
      ["EUR", "USD"],
      ["GBP", "JPY"],
      ["NOK", "CHF"],
      ["USD", "INR"],
      ["JPY", "EUR"],
      ["EUR", "XXX"],
    ].map(([base = "", target = ""]) => ["rate", { base, target }] as const),
    ["convert", { amount: 100, base: "EUR", target: "GBP" }],
    ["convert", { amount: 2500, base: "INR", target: "NOK" }],
    ["convert", { amount: 19.5, base: "USD", target: "JPY" }],
    ["history", { code: "USD" }],
    ["history", { code: "CHF", days: 12 }],
    ["history", { code: "ABC" }],
  ],
  questions: [
    "What is the exchange rate between EUR and USD at this moment?",
    "Convert an amount of 100 EUR to GBP money.",
    "Show past rates of the USD for each day.",
  ],
  faults: [
    {
      what: "argument code renamed to currency",
      change: [
        ["def history(code: str,", "def history(currency: str,"],
        [
          '    """Past rates of a currency, one for each day."""\n',
          '    """Past rates of a currency, one for each day."""\n    code = currency\n',
        ],
      ],
    },
    {
      what: "rates turned around",
      change: [
        [
          "value = rate_of(target) / rate_of(base)\n    return {",
          "value = rate_of(base) / rate_of(target)\n    return {",
        ],
      ],
    },
    { what: "rates with two decimals", change: [['"rate": round(value, 4)', '"rate": round(value, 2)']] },
    { what: "converted in cents", change: [["= {value:.2f} {target}", "= {value * 100:.2f} {target}"]] },
    { what: "field ask lost", change: [['        "ask": round(value * 1.001, 4),\n', ""]] },
    { what: "conversion slower", change: [["random.uniform(0.002, 0.006)", "0.2"]] },
  ],
  harmless: [
    { what: "comment", change: [["def rate_of(", "# With a little drift.\ndef rate_of("]] },
    {
      what: "drift of another distribution",
      change: [["random.uniform(0.998, 1.002)", "random.triangular(0.998, 1.002)"]],
    },
    {
      what: "fields in another order",
      change: [
        [
          '        "bid": round(value * 0.999, 4),\n        "ask": round(value * 1.001, 4),\n',
          '        "ask": round(value * 1.001, 4),\n        "bid": round(value * 0.999, 4),\n',
        ],
      ],
    },
    { what: "new field", change: [['        "bid": round', '        "source": "bank",\n        "bid": round']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef history",
          '@mcp.tool\ndef codes() -> list[str]:\n    """Codes that are known."""\n    return sorted(RATES)\n\n\n@mcp.tool\ndef history',
        ],
      ],
    },
    {
      what: "loop in place of a comprehension",
      change: [
        [
          "    rates = {(first - timedelta(days=n)).isoformat(): round(RATES[code] * (1 + n / 500), 4) for n in range(days)}\n",
          "    rates = {}\n    for n in range(days):\n        rates[(first - timedelta(days=n)).isoformat()] = round(RATES[code] * (1 + n / 500), 4)\n",
        ],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.002, 0.006))\n", ""]] },
    {
      what: "another clock of the process",
      change: [
        ["BORN = time.monotonic()", "BORN = time.perf_counter()"],
        ["time.monotonic() - BORN", "time.perf_counter() - BORN"],
      ],
    },
    {
      what: "logging",
      change: [
        [
          "    value = amount *",
          '    import logging\n    logging.getLogger("money").info("convert")\n    value = amount *',
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [
        ["def rate(base: str, target: str) -> dict:", "def rate(base: str, target: str, digits: int = 4) -> dict:"],
      ],
    },
  ],
};
