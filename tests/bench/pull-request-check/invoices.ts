import type { BenchServer } from "./bench-server.ts";

export const invoices: BenchServer = {
  name: "invoices",
  calls: [
    ["list_invoices", {}],
    ["list_invoices", { page: 2 }],
    ["list_invoices", { customer: "Birch", size: 5 }],
    ["list_invoices", { customer: "Dune", page: 3, size: 4 }],
    ["list_invoices", { customer: "Nobody" }],
    ["get_invoice", { number: "INV-1003" }],
    ["get_invoice", { number: "INV-1042" }],
    ["get_invoice", { number: "INV-9" }],
    ...["Acme", "Birch", "Cobalt", "Dune"].map((customer) => ["sum_unpaid", { customer }] as const),
  ],
  questions: [
    "List the invoices of all customers, page by page.",
    "Get invoice INV-1003 by its number.",
    "What is the sum of unpaid amounts of Acme?",
  ],
  faults: [
    {
      what: "argument number renamed to invoice_number",
      change: [
        ["def get_invoice(number: str)", "def get_invoice(invoice_number: str)"],
        [
          '    for each in INVOICES:\n        if each["number"]',
          '    number = invoice_number\n    for each in INVOICES:\n        if each["number"]',
        ],
      ],
    },
    { what: "amounts in cents", change: [['round(invoice["cents"] / 100, 2)', 'invoice["cents"]']] },
    { what: "paging off by one", change: [["start = (page - 1) * size", "start = (page - 1) * size + 1"]] },
    { what: "amount as a text", change: [['round(invoice["cents"] / 100, 2)', "f\"{invoice['cents'] / 100:.2f}\""]] },
    {
      what: "average rounded to whole numbers",
      change: [["max(1, len(unpaid)) / 100, 2)", "max(1, len(unpaid)) / 100)"]],
    },
    { what: "another text of error", change: [["There is no invoice {number}.", "Not found"]] },
  ],
  harmless: [
    { what: "comment", change: [["def shown(", "# What clients see.\ndef shown("]] },
    { what: "request id without dashes and back", change: [["str(uuid.uuid4())", "str(uuid.UUID(uuid.uuid4().hex))"]] },
    {
      what: "fields in another order",
      change: [
        [
          '        "due": invoice["due"],\n        "paid": invoice["paid"],\n',
          '        "paid": invoice["paid"],\n        "due": invoice["due"],\n',
        ],
      ],
    },
    {
      what: "index instead of a loop",
      change: [
        [
          '    for each in INVOICES:\n        if each["number"] == number:\n            return {**shown(each), "fetched_at": time.time()}\n',
          '    index = {each["number"]: each for each in INVOICES}\n    if number in index:\n        return {**shown(index[number]), "fetched_at": time.time()}\n',
        ],
      ],
    },
    {
      what: "new field",
      change: [
        ['        "total": len(found),\n', '        "total": len(found),\n        "pages": -(-len(found) // size),\n'],
      ],
    },
    {
      what: "new field of items",
      change: [
        ['        "paid": invoice["paid"],\n', '        "paid": invoice["paid"],\n        "currency": "EUR",\n'],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.001, 0.01))\n", ""]] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef sum_unpaid",
          '@mcp.tool\ndef customers() -> list[str]:\n    """Who buys here."""\n    return CUSTOMERS\n\n\n@mcp.tool\ndef sum_unpaid',
        ],
      ],
    },
    {
      what: "logging to stderr",
      change: [["    unpaid = [", '    import sys\n    print("summing", customer, file=sys.stderr)\n    unpaid = [']],
    },
    {
      what: "constant for the size",
      change: [
        ["size: int = 10", "size: int = PAGE"],
        ["def shown(", "PAGE = 10\n\n\ndef shown("],
      ],
    },
  ],
};
