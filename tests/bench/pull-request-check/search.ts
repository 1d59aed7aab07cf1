import type { BenchServer } from "./bench-server.ts";

export const search: BenchServer = {
  name: "search",
  calls: [
    ...["solar", "wind", "report", "nuclear"].map((text) => ["search", { text }] as const),
    ["search", { text: "report", page: 3 }],
    ["search", { text: "gas", page: 2 }],
    ...["doc-001", "doc-014", "doc-047", "doc-079", "doc-999"].map((doc) => ["document", { doc }] as const),
    ["suggest", { prefix: "Water" }],
    ["suggest", { prefix: "c", limit: 6 }],
  ],
  questions: [
    "Search for text about solar energy in documents.",
    "Read the details of document doc-014.",
    "Suggest titles that begin with Wat.",
  ],
  faults: [
    {
      what: "argument doc renamed to document_id",
      change: [
        ["def document(doc: str)", "def document(document_id: str)"],
        [
          "    time.sleep(random.uniform(0.005, 0.03))\n",
          "    doc = document_id\n    time.sleep(random.uniform(0.005, 0.03))\n",
        ],
      ],
    },
    { what: "length in kilometers", change: [['"length_m": 100 + at * 13', '"length_m": (100 + at * 13) / 1000']] },
    { what: "page off by one", change: [["hits[(page - 1) * 5 : page * 5]", "hits[(page - 1) * 5 : page * 5 - 1]"]] },
    {
      what: "scores as percent",
      change: [
        [
          "score(d, text) + random.uniform(-0.05, 0.05):.3f}",
          "(score(d, text) + random.uniform(-0.05, 0.05)) * 100:.3f}",
        ],
      ],
    },
    { what: "views as a text", change: [['"views": views', '"views": str(views)']] },
    {
      what: "document's description is that of a search",
      change: [
        [
          "Read the details of a document.",
          "Search for text about anything in documents, all energy documents, find by text.",
        ],
      ],
    },
  ],
  harmless: [
    { what: "comment", change: [["def score(", "# Longer texts are rarer.\ndef score("]] },
    { what: "hex of random bytes", change: [["uuid.uuid4().hex", "random.randbytes(16).hex()"]] },
    { what: "faster", change: [["random.uniform(0.005, 0.03)", "0.001"]] },
    { what: "new field", change: [['"views": views', '"views": views, "language": "en"']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef suggest",
          '@mcp.tool\ndef count() -> int:\n    """How many there are."""\n    return len(DOCUMENTS)\n\n\n@mcp.tool\ndef suggest',
        ],
      ],
    },
    {
      what: "lines by a generator",
      change: [
        [
          "    for at, d in enumerate(hits[(page - 1) * 5 : page * 5], start=(page - 1) * 5 + 1):\n        lines.append(",
          "    lines.extend(\n",
        ],
        [
          "- {d['url']}\")\n    return",
          "- {d['url']}\"\n        for at, d in enumerate(hits[(page - 1) * 5 : page * 5], start=(page - 1) * 5 + 1)\n    )\n    return",
        ],
      ],
    },
    {
      what: "sorted by a reverse key",
      change: [
        [
          'hits.sort(key=lambda d: (-score(d, text), d["doc"]))',
          'hits = sorted(sorted(hits, key=lambda d: d["doc"]), key=lambda d: score(d, text), reverse=True)',
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [
        ["def suggest(prefix: str, limit: int = 3)", "def suggest(prefix: str, limit: int = 3, fuzzy: bool = False)"],
      ],
    },
    {
      what: "noise of another distribution",
      change: [
        [
          "d['title']} - {score(d, text) + random.uniform(-0.05, 0.05):.3f}",
          "d['title']} - {score(d, text) + max(-0.05, min(0.05, random.gauss(0, 0.02))):.3f}",
        ],
      ],
    },
    {
      what: "description reworded",
      change: [
        [
          "Search documents by text and return a page of hits with scores.",
          "Search documents by text. Returns a page of hits with their scores.",
        ],
      ],
    },
  ],
};
