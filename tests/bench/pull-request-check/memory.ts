import type { BenchServer } from "./bench-server.ts";

export const memory: BenchServer = {
  name: "memory",
  calls: [
    ["read_graph", {}],
    ["read_graph", { cursor: "5.00ff12ab34cd" }],
    ["read_graph", { cursor: "10.8a00e1b2c3d4", page_size: 10 }],
    ["read_graph", { cursor: "next" }],
    ...["tea", "Norwegian", "ATLAS", "zebra"].map((query) => ["search_nodes", { query }] as const),
    ...["Ada", "Comet", "Nobody"].map((name) => ["open_node", { name }] as const),
    ...["Ada", "Chen", "Farah"].map((name) => ["relations", { name }] as const),
    ["relations", { name: "Lyon", direction: "in" }],
    ["recall", {}],
    ["recall", { count: 5 }],
  ],
  questions: [
    "Read the whole graph.",
    "Search for the nodes that mention the text tea.",
    "Open the entity with the exact name Ada.",
    "Which relations has the entity Chen?",
    "Recall random observations.",
  ],
  faults: [
    {
      what: "field observations renamed to facts",
      change: [
        [
          "            return {**entity, ",
          '            entity = {**entity, "facts": entity["observations"]}\n            del entity["observations"]\n            return {**entity, ',
        ],
      ],
    },
    {
      what: "later pages skip an entity",
      change: [["    start = int(position)\n", "    start = int(position) + bool(cursor)\n"]],
    },
    {
      what: "null in place of no relations",
      change: [['"relations": found, "took_ms"', '"relations": found or None, "took_ms"']],
    },
    {
      what: "search minds upper and lower case",
      change: [['if query.lower() in f"{name} {fact}".lower()', 'if query in f"{name} {fact}"']],
    },
    {
      what: "description of another tool",
      change: [["Open one entity by its exact name.", "Recall some random observations of the graph."]],
    },
    {
      what: "creation in milliseconds",
      change: [["1_790_000_000 + SEED.randint(0, 4_000_000)", "(1_790_000_000 + SEED.randint(0, 4_000_000)) * 1000"]],
    },
  ],
  harmless: [
    { what: "typo in a comment", change: [["restrat", "restart"]] },
    {
      what: "new optional argument",
      change: [
        [
          "def search_nodes(query: str, limit: int = 4)",
          "def search_nodes(query: str, limit: int = 4, offset: int = 0)",
        ],
        ["    hits = hits[:limit]\n", "    hits = hits[offset : offset + limit]\n"],
      ],
    },
    { what: "new field", change: [['"reads": READS["total"]}', '"reads": READS["total"], "is_pinned": False}']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef recall",
          '@mcp.tool\ndef statistics() -> dict:\n    """How much is stored."""\n    return {"stored": len(GRAPH), "links": len(RELATIONS)}\n\n\n@mcp.tool\ndef recall',
        ],
      ],
    },
    { what: "relations in the order of storage", change: [["    random.shuffle(found)\n", ""]] },
    {
      what: "observations by an own draw",
      change: [
        ["    chosen = random.sample([", "    stored = ["],
        [
          'for fact in entity["observations"]], count)\n',
          'for fact in entity["observations"]]\n    random.shuffle(stored)\n    chosen = stored[:count]\n',
        ],
      ],
    },
    {
      what: "entities by an index",
      change: [
        [
          '    for entity in GRAPH:\n        if entity["name"] == name:\n',
          "    for entity in filter(None, [BY_NAME.get(name)]):\n        if entity:\n",
        ],
        ["READS = {", 'BY_NAME = {entity["name"]: entity for entity in GRAPH}\nREADS = {'],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.002, 0.02))\n", ""]] },
    {
      what: "logging",
      change: [
        [
          "    hits = hits[:limit]\n",
          '    import logging\n    logging.getLogger("memory").debug("%d hits", len(hits))\n    hits = hits[:limit]\n',
        ],
      ],
    },
    {
      what: "description in other words",
      change: [["Read the whole graph, page by page.", "Read the whole graph in pages."]],
    },
  ],
};
