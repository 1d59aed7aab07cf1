import type { BenchServer } from "./bench-server.ts";

export const query: BenchServer = {
  name: "query",
  calls: [
    ...[
      "SELECT name, credit FROM customer WHERE country = 'IT'",
      "SELECT country, count(*) AS firms, avg(credit) AS mean FROM customer GROUP BY country",
      "SELECT month, sum(amount) FROM sale WHERE paid = 1 GROUP BY month",
      "SELECT id, random() AS dice, datetime('now') AS now FROM customer LIMIT 3",
      "SELECT nothing FROM customer",
      "SELECT * FROM sale WHERE amount < 0",
      "DELETE FROM sale",
    ].map((statement) => ["run_sql", { statement }] as const),
    ["run_sql", { statement: "SELECT * FROM sale ORDER BY amount DESC", limit: 4 }],
    ...["customer", "sale", "orders"].map((table) => ["describe_table", { table }] as const),
    ["best_customers", { month: "2026-03" }],
    ["best_customers", { month: "2026-05", count: 6 }],
    ["best_customers", { month: "1999-01" }],
  ],
  questions: [
    "Run a SQL statement that selects the rows of sale.",
    "Describe the columns of the table customer.",
    "Who are the best customers of the month 2026-03?",
  ],
  faults: [
    {
      what: "argument statement renamed to sql",
      change: [
        ["def run_sql(statement: str, limit: int = 10)", "def run_sql(sql: str, limit: int = 10)"],
        ["    if not statement.lower()", "    statement = sql\n    if not statement.lower()"],
      ],
    },
    {
      what: "rows as texts",
      change: [["[list(row) for row in cursor]", "[[str(value) for value in row] for row in cursor]"]],
    },
    {
      what: "count of the rows that are shown",
      change: [['"row_count": len(rows),', '"row_count": len(rows[:limit]),']],
    },
    { what: "customers with fewest sales", change: [["ORDER BY total DESC", "ORDER BY total ASC"]] },
    {
      what: "nothing in place of an unknown table's error",
      change: [['        raise ToolError(f"no such table: {table}")\n', '        return ""\n']],
    },
    {
      what: "total in whole units",
      change: [["round(sum(s.amount), 2) AS total", "CAST(sum(s.amount) AS INTEGER) AS total"]],
    },
  ],
  harmless: [
    { what: "comment", change: [["lock = threading.Lock()", "lock = threading.Lock()  # SQLite has one writer"]] },
    {
      what: "index on what is joined",
      change: [
        [
          "    CREATE INDEX sale_month ON sale (month);\n",
          "    CREATE INDEX sale_month ON sale (month);\n    CREATE INDEX sale_customer ON sale (customer);\n",
        ],
      ],
    },
    {
      what: "covering index",
      change: [
        ["CREATE INDEX sale_month ON sale (month)", "CREATE INDEX sale_month ON sale (month, customer, amount)"],
      ],
    },
    { what: "fetches all at once", change: [["[list(row) for row in cursor]", "list(map(list, cursor.fetchall()))"]] },
    {
      what: "time by another clock",
      change: [
        ["begun = time.perf_counter()", "begun = time.monotonic()"],
        ["(time.perf_counter() - begun) * 1000", "(time.monotonic() - begun) * 1000"],
      ],
    },
    { what: "new field", change: [['        "truncated":', '        "dialect": "sqlite",\n        "truncated":']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef describe_table",
          '@mcp.tool\ndef tables() -> list[str]:\n    """Names of everything that is stored."""\n    return ["customer", "sale"]\n\n\n@mcp.tool\ndef describe_table',
        ],
      ],
    },
    {
      what: "join the other way round",
      change: [
        [
          'FROM sale s"\n        " JOIN customer c ON c.id = s.customer',
          'FROM customer c"\n        " JOIN sale s ON s.customer = c.id',
        ],
      ],
    },
    {
      what: "rows by a class",
      change: [
        [
          "return [dict(zip(columns, row, strict=True)) for row in rows]",
          "return [{column: row[at] for at, column in enumerate(columns)} for row in rows]",
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [
        ["def describe_table(table: str) -> str:", "def describe_table(table: str, examples: bool = False) -> str:"],
      ],
    },
  ],
};
