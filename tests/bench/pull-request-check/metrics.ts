import type { BenchServer } from "./bench-server.ts";

export const metrics: BenchServer = {
  name: "metrics",
  calls: [
    ...["http_request_duration_seconds", "http_error_ratio", "queue_depth", "cpu"].map(
      (metric) => ["query", { metric }] as const,
    ),
    ["query_range", { metric: "http_error_ratio" }],
    ["query_range", { metric: "http_request_duration_seconds", host: "web-2", minutes: 5, step: 30 }],
    ["query_range", { metric: "queue_depth", host: "db-1", minutes: 60, step: 300 }],
    ["query_range", { metric: "memory_used_bytes", minutes: 10 }],
    ["query_range", { metric: "queue_depth", host: "db-9" }],
    ["alerts", {}],
    ["alerts", { severity: "critical" }],
    ["alerts", { severity: "info" }],
    ["list_metrics", {}],
    ["list_metrics", { prefix: "http_" }],
  ],
  questions: [
    "What is the current value of the metric queue_depth on each host?",
    "Show the history of queue_depth over the last minutes.",
    "Which alerts fire?",
    "Give the names of all metrics with their units as CSV.",
  ],
  faults: [
    { what: "duration in milliseconds, still called seconds", change: [['("seconds", 0.24,', '("seconds", 240.0,']] },
    {
      what: "history newest first",
      change: [["for back in reversed(range(minutes * 60 // step))]", "for back in range(minutes * 60 // step)]"]],
    },
    {
      what: "window ends two hours ago",
      change: [["    end = time.time() // step * step\n", "    end = time.time() // step * step - 7200\n"]],
    },
    {
      what: "history rounded to whole numbers",
      change: [
        [
          "[round(measured(metric, host, at), 4) for at in times]",
          "[round(measured(metric, host, at)) for at in times]",
        ],
      ],
    },
    { what: "severity ignored", change: [["        if severity in (None, level):\n", "        if level:\n"]] },
    {
      what: "history described as another tool",
      change: [["History of a metric over the last minutes, oldest first.", "Current value of a metric on each host."]],
    },
  ],
  harmless: [
    { what: "typo in a comment", change: [["tiem", "time"]] },
    {
      what: "new optional argument",
      change: [
        [
          "def query(metric: str) -> list[dict]:",
          "def query(metric: str, hosts: list[str] | None = None) -> list[dict]:",
        ],
        [
          "for host in random.sample(HOSTS, len(HOSTS))}",
          "for host in random.sample(hosts or HOSTS, len(hosts or HOSTS))}",
        ],
      ],
    },
    {
      what: "new field",
      change: [
        ["    average: float\n", "    average: float\n    maximum: float\n"],
        ["average=round(", "maximum=max(values), average=round("],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef alerts",
          '@mcp.tool\ndef machines() -> list[str]:\n    """Machines that report."""\n    return HOSTS\n\n\n@mcp.tool\ndef alerts',
        ],
      ],
    },
    { what: "hosts always in one order", change: [["random.sample(HOSTS, len(HOSTS))", "HOSTS"]] },
    { what: "faster", change: [["    time.sleep(random.uniform(0.005, 0.025))\n", ""]] },
    {
      what: "logging",
      change: [
        [
          "    begun = time.perf_counter()\n",
          '    import logging\n    logging.getLogger("metrics").info("range of %s", metric)\n    begun = time.perf_counter()\n',
        ],
      ],
    },
    {
      what: "duration by another clock",
      change: [
        ["    begun = time.perf_counter()\n", "    begun = time.monotonic()\n"],
        ["(time.perf_counter() - begun)", "(time.monotonic() - begun)"],
      ],
    },
    {
      what: "names from a cache",
      change: [
        [
          '    rows = [f"{name},{unit},{text}" for name, (unit, _, text) in METRICS.items() if name.startswith(prefix)]\n    return "\\n".join(["name,unit,help", *rows])\n',
          '    return rendered(prefix)\n\n\n@functools.cache\ndef rendered(prefix: str) -> str:\n    rows = [f"{name},{unit},{text}" for name, (unit, _, text) in METRICS.items() if name.startswith(prefix)]\n    return "\\n".join(["name,unit,help", *rows])\n',
        ],
        ["import math\n", "import functools\nimport math\n"],
      ],
    },
    {
      what: "description in other words",
      change: [
        [
          "Current value of a metric on each host, in no order.",
          "The current value of one metric on each host (unordered).",
        ],
      ],
    },
  ],
};
