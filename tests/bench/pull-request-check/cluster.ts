import type { BenchServer } from "./bench-server.ts";

export const cluster: BenchServer = {
  name: "cluster",
  calls: [
    ["list_pods", {}],
    ...["payments", "staging", "prod"].map((namespace) => ["list_pods", { namespace }] as const),
    ["list_pods", { namespace: "default", limit: 2 }],
    ...["web-0", "api-2", "web-9"].map((name) => ["get_pod", { name }] as const),
    ["get_pod", { name: "ledger-1", namespace: "payments" }],
    ["list_events", {}],
    ["list_events", { namespace: "payments", limit: 3 }],
    ["list_events", { namespace: "staging" }],
    ["top_pods", {}],
    ["top_pods", { namespace: "payments" }],
  ],
  questions: [
    "List the pods of the namespace payments as a table.",
    "Describe the one pod web-0 with its conditions.",
    "What are the newest events?",
    "What is the usage of CPU and memory?",
  ],
  faults: [
    {
      what: "argument namespace renamed to ns",
      change: [
        [
          'def top_pods(namespace: str = "default") -> str:\n    """Usage of CPU and memory now, as CSV."""\n',
          'def top_pods(ns: str = "default") -> str:\n    """Usage of CPU and memory now, as CSV."""\n    namespace = ns\n',
        ],
      ],
    },
    {
      what: "memory in KiB, still called MiB",
      change: [["{pod['memory'] + random.randint(-3, 3)}", "{(pod['memory'] + random.randint(-3, 3)) * 1024}"]],
    },
    { what: "oldest events first", change: [["in found], reverse=True)", "in found])"]] },
    {
      what: "unknown namespace as an empty one",
      change: [["        raise ToolError(f'namespaces \"{namespace}\" not found')\n", "        return []\n"]],
    },
    {
      what: "time zone of the start dropped",
      change: [["begun.isoformat()", "begun.replace(tzinfo=None).isoformat()"]],
    },
    {
      what: "field restart_count renamed to restarts",
      change: [
        ["    restart_count: int\n", "    restarts: int\n"],
        ['Pod(**pod, restart_count=pod["restarts"], ', "Pod(**pod, "],
      ],
    },
  ],
  harmless: [
    { what: "typo in a comment", change: [["midnihgt", "midnight"]] },
    {
      what: "new field",
      change: [["    restart_count: int\n", '    restart_count: int\n    qos_class: str = "Burstable"\n']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef top_pods",
          '@mcp.tool\ndef server_version() -> str:\n    """Release that the control plane runs."""\n    return "v1.33.2"\n\n\n@mcp.tool\ndef top_pods',
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [
        [
          'def list_pods(namespace: str = "default", limit: int = 50)',
          'def list_pods(namespace: str = "default", limit: int = 50, app: str | None = None)',
        ],
        [
          "    for pod in pods_in(namespace)[:limit]:\n",
          '    for pod in [p for p in pods_in(namespace) if app is None or p["name"].startswith(app)][:limit]:\n',
        ],
      ],
    },
    {
      what: "logging",
      change: [
        [
          "    tick = time.time()",
          '    import logging\n    logging.getLogger("cluster").info("events of %s", namespace)\n    tick = time.time()',
        ],
      ],
    },
    { what: "usage by another draw", change: [["random.uniform(0.9, 1.1)", "random.triangular(0.9, 1.1)"]] },
    {
      what: "pods by an index",
      change: [
        ['    return [pod for pod in PODS if pod["namespace"] == namespace]\n', "    return list(INDEX[namespace])\n"],
        [
          "\n\nclass Pod(BaseModel):",
          '\nINDEX = {space: [pod for pod in PODS if pod["namespace"] == space] for space in SPACES}\n\n\nclass Pod(BaseModel):',
        ],
      ],
    },
    {
      what: "description in other words",
      change: [["List the pods of a namespace as a table.", "List all pods that a namespace has, as a table."]],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.005, 0.03))\n", ""]] },
    {
      what: "ids from random bytes",
      change: [
        ['"request_id": str(uuid.uuid4())', '"request_id": str(uuid.UUID(bytes=random.randbytes(16), version=4))'],
      ],
    },
  ],
};
