import type { BenchServer } from "./bench-server.ts";

export const library: BenchServer = {
  name: "library",
  calls: [
    ...["978-000003", "978-000011", "978-000038", "978-999999"].map((isbn) => ["book", { isbn }] as const),
    ...["history", "physics", "poems"].map((genre) => ["recommend", { genre }] as const),
    ["recommend", { genre: "travel", count: 5 }],
    ["catalog", {}],
    ["catalog", { after: "978-000020" }],
    ["catalog", { genre: "cooking", size: 4 }],
    ["catalog", { genre: "travel", after: "978-000030" }],
  ],
  questions: [
    "Show the book with the ISBN 978-000003 as a text.",
    "Recommend some books of the genre travel.",
    "Browse the catalog in the order of ISBNs.",
  ],
  faults: [
    {
      what: "argument isbn renamed to number",
      change: [
        ["def book(isbn: str) -> str:", "def book(number: str) -> str:"],
        ["    if isbn not in BOOKS:\n", "    isbn = number\n    if isbn not in BOOKS:\n"],
      ],
    },
    { what: "ratings of ten in the text", change: [["{b['rating']} of 5", "{b['rating'] * 2} of 5"]] },
    { what: "match in percent", change: [["round(random.uniform(0.6, 0.99), 2)", "round(random.uniform(60, 99), 0)"]] },
    { what: "catalog begins one too early", change: [['b["isbn"] > after', 'b["isbn"] >= after']] },
    { what: "mean rating rounded", change: [["round(mean, 2)", "round(mean)"]] },
    { what: "fewer recommendations by default", change: [["count: int = 3", "count: int = 2"]] },
  ],
  harmless: [
    { what: "comment", change: [["GENRES =", "# Shelves.\nGENRES ="]] },
    {
      what: "fields in another order",
      change: [
        [
          '        "pages": 120 + at * 7,\n        "rating": round(2.5 + at % 25 / 10, 1),\n',
          '        "rating": round(2.5 + at % 25 / 10, 1),\n        "pages": 120 + at * 7,\n',
        ],
      ],
    },
    {
      what: "shuffled in place of a sample",
      change: [
        [
          'random.sample([b for b in BOOKS.values() if b["genre"] == genre], count)',
          'shuffled([b for b in BOOKS.values() if b["genre"] == genre])[:count]',
        ],
        [
          "@mcp.tool\ndef recommend",
          "def shuffled(books: list) -> list:\n    random.shuffle(books)\n    return books\n\n\n@mcp.tool\ndef recommend",
        ],
      ],
    },
    {
      what: "new field",
      change: [['        "mean_rating"', '        "left": len(rest) - len(shown),\n        "mean_rating"']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef catalog",
          '@mcp.tool\ndef genres() -> list[str]:\n    """Kinds of all shelves."""\n    return GENRES\n\n\n@mcp.tool\ndef catalog',
        ],
      ],
    },
    { what: "match by another distribution", change: [["random.uniform(0.6, 0.99)", "random.triangular(0.6, 0.99)"]] },
    { what: "faster", change: [["    time.sleep(random.uniform(0.001, 0.02))\n", ""]] },
    {
      what: "logging",
      change: [
        [
          "    b = BOOKS[isbn]\n",
          '    b = BOOKS[isbn]\n    import logging\n    logging.getLogger("library").info("show %s", isbn)\n',
        ],
      ],
    },
    {
      what: "text by lines",
      change: [
        ["    return (\n        f\"# {b['title']}", "    text = (\n        f\"# {b['title']}"],
        ['ms ago\\n"\n    )', 'ms ago\\n"\n    )\n    return "".join(text.splitlines(keepends=True))'],
      ],
    },
    {
      what: "new optional argument",
      change: [
        [
          "def recommend(genre: str, count: int = 3)",
          "def recommend(genre: str, count: int = 3, language: str | None = None)",
        ],
      ],
    },
  ],
};
