import type { BenchServer } from "./bench-server.ts";

export const files: BenchServer = {
  name: "files",
  calls: [
    ...["src", "docs", "tests", "none"].map((folder) => ["list_folder", { folder }] as const),
    ["list_folder", { folder: "src", offset: 4, limit: 5 }],
    ...["src/file00.md", "docs/file01.py", "assets/file03.py", "gone.md"].map((path) => ["stat", { path }] as const),
    ["read_lines", { path: "tests/file06.md" }],
    ["read_lines", { path: "src/file08.md", first: 4, count: 6 }],
    ["read_lines", { path: "gone.md" }],
  ],
  questions: [
    "List the files of the folder src with their sizes.",
    "What is the status of a file, its digest?",
    "Read the lines of docs/file01.py as text.",
  ],
  faults: [
    {
      what: "argument path renamed to file",
      change: [
        ["def stat(path: str) -> dict:", "def stat(file: str) -> dict:"],
        ["    time.sleep(random.uniform(0, 0.004))\n", "    path = file\n    time.sleep(random.uniform(0, 0.004))\n"],
      ],
    },
    {
      what: "free space in TB",
      change: [["round(211 + random.uniform(-0.5, 0.5), 2)", "round((211 + random.uniform(-0.5, 0.5)) / 1000, 5)"]],
    },
    { what: "field lines lost", change: [['        "lines": len(FILES[path]),\n', ""]] },
    {
      what: "lines off by one",
      change: [["FILES[path][first - 1 : first - 1 + count]", "FILES[path][first : first + count]"]],
    },
    { what: "digest without line ends", change: [['text = "\\n".join(FILES[path])', 'text = "".join(FILES[path])']] },
    { what: "list slower", change: [["    names = sorted(", "    time.sleep(0.12)\n    names = sorted("]] },
  ],
  harmless: [
    { what: "comment", change: [["def size_of(", "# With the ends of lines.\ndef size_of("]] },
    {
      what: "fields in another order",
      change: [
        [
          '        "bytes": size_of(path),\n        "lines": len(FILES[path]),\n',
          '        "lines": len(FILES[path]),\n        "bytes": size_of(path),\n',
        ],
      ],
    },
    {
      what: "digest in steps",
      change: [
        ["hashlib.sha256(text.encode()).hexdigest()", "digest(text)"],
        [
          "@mcp.tool\ndef stat",
          "def digest(text: str) -> str:\n    made = hashlib.sha256()\n    made.update(text.encode())\n    return made.hexdigest()\n\n\n@mcp.tool\ndef stat",
        ],
      ],
    },
    {
      what: "new field",
      change: [['        "indexed_at"', '        "kind": path.rsplit(".", 1)[1],\n        "indexed_at"']],
    },
    {
      what: "new field of items",
      change: [['"bytes": size_of(name)}', '"bytes": size_of(name), "lines": len(FILES[name])}']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef read_lines",
          '@mcp.tool\ndef folders() -> list[str]:\n    """Names of all places."""\n    return FOLDERS\n\n\n@mcp.tool\ndef read_lines',
        ],
      ],
    },
    {
      what: "logging",
      change: [
        [
          "    names = sorted(",
          '    import logging\n    logging.getLogger("files").info("list %s", folder)\n    names = sorted(',
        ],
      ],
    },
    {
      what: "start in the same form",
      change: [["STARTED = datetime.now(timezone.utc)", "STARTED = datetime.fromtimestamp(time.time(), timezone.utc)"]],
    },
    {
      what: "slice by a helper",
      change: [
        [
          '    return "\\n".join(FILES[path][first - 1 : first - 1 + count])',
          '    last = first - 1 + count\n    return "\\n".join(line for at, line in enumerate(FILES[path]) if first - 1 <= at < last)',
        ],
      ],
    },
    { what: "stat without a wait", change: [["    time.sleep(random.uniform(0, 0.004))\n", ""]] },
  ],
};
