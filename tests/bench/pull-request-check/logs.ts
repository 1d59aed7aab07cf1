import type { BenchServer } from "./bench-server.ts";

export const logs: BenchServer = {
  name: "logs",
  calls: [
    ...["api", "web", "jobs", "mail"].map((service) => ["tail", { service }] as const),
    ["tail", { service: "api", lines: 20, level: "error" }],
    ...["api", "web", "jobs"].map((service) => ["count", { service }] as const),
    ["count", { service: "api", hours: 2 }],
    ["slowest", { service: "api" }],
    ["slowest", { service: "web", limit: 2 }],
    ["slowest", { service: "mail" }],
  ],
  questions: [
    "Show the newest lines of the log of the api service.",
    "Count the lines by level in the past hours.",
    "Which requests took longest?",
  ],
  faults: [
    {
      what: "argument lines renamed to n",
      change: [
        ["def tail(service: str, lines: int = 8,", "def tail(service: str, n: int = 8,"],
        ["    now = datetime", "    lines = n\n    now = datetime"],
      ],
    },
    {
      what: "durations in milliseconds, still called s",
      change: [
        [
          "{2.5 - n * 0.3 + random.uniform(-0.02, 0.02):.2f}",
          "{(2.5 - n * 0.3 + random.uniform(-0.02, 0.02)) * 1000:.2f}",
        ],
      ],
    },
    { what: "field trace lost", change: [['            "trace": uuid.uuid4().hex,\n', ""]] },
    {
      what: "levels in capitals",
      change: [["level or random.choice(LEVELS)", "(level or random.choice(LEVELS)).upper()"]],
    },
    { what: "one line too few", change: [["for n in range(lines)", "for n in range(lines - 1)"]] },
    {
      what: "count described as the tail of a log",
      change: [
        [
          "Count lines by level in the past hours.",
          "Show the newest lines of the log of a service, such as api: lines, log, newest.",
        ],
      ],
    },
  ],
  harmless: [
    { what: "comment", change: [["LEVELS =", "# By weight.\nLEVELS ="]] },
    { what: "ids from random bytes", change: [["uuid.uuid4().hex,", "random.randbytes(16).hex(),"]] },
    {
      what: "fields in another order",
      change: [
        [
          '            "message": random.choice(MESSAGES),\n            "trace": uuid.uuid4().hex,\n',
          '            "trace": uuid.uuid4().hex,\n            "message": random.choice(MESSAGES),\n',
        ],
      ],
    },
    { what: "new field", change: [['            "trace"', '            "host": "node-1",\n            "trace"']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef slowest",
          '@mcp.tool\ndef services() -> list[str]:\n    """What runs here."""\n    return SERVICES\n\n\n@mcp.tool\ndef slowest',
        ],
      ],
    },
    { what: "choices by index", change: [["random.choice(MESSAGES)", "MESSAGES[random.randrange(len(MESSAGES))]"]] },
    { what: "faster", change: [["    time.sleep(random.uniform(0.003, 0.006))\n", ""]] },
    {
      what: "share by a helper",
      change: [
        ['round(counts["error"] / sum(counts.values()), 5)', "share(counts)"],
        [
          "@mcp.tool\ndef count",
          'def share(counts: dict) -> float:\n    return round(counts["error"] / sum(counts.values()), 5)\n\n\n@mcp.tool\ndef count',
        ],
      ],
    },
    {
      what: "table by parts",
      change: [
        ['    return "path | duration\\n" + "\\n".join(rows)', '    return "\\n".join(["path | duration", *rows])'],
      ],
    },
    {
      what: "new optional argument",
      change: [
        [
          "def slowest(service: str, limit: int = 4)",
          "def slowest(service: str, limit: int = 4, since: str | None = None)",
        ],
      ],
    },
  ],
};
