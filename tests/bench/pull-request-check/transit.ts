import type { BenchServer } from "./bench-server.ts";

export const transit: BenchServer = {
  name: "transit",
  calls: [
    ...["Harbor", "Market", "Castle", "Moon"].map((stop) => ["departures", { stop }] as const),
    ["departures", { stop: "Market", limit: 2 }],
    ["trip", { start: "Harbor", end: "Park" }],
    ["trip", { start: "Airport", end: "Market" }],
    ["trip", { start: "Lake", end: "Castle" }],
    ["trip", { start: "Lake", end: "Airport" }],
    ["trip", { start: "Lake", end: "Mars" }],
    ["lines", {}],
    ["lines", { detail: true }],
  ],
  questions: [
    "What are the next departures from the stop Market?",
    "Plan a trip from Harbor to Park.",
    "Show a table of the lines.",
  ],
  faults: [
    {
      what: "argument end renamed to destination",
      change: [
        ["def trip(start: str, end: str)", "def trip(start: str, destination: str)"],
        ["    check(start)\n    check(end)\n", "    end = destination\n    check(start)\n    check(end)\n"],
      ],
    },
    {
      what: "delays in minutes, still called seconds",
      change: [["[0, 0, 30, 60, 90, 120]", "[0, 0, 0.5, 1, 1.5, 2]"]],
    },
    { what: "field platform lost", change: [['            "platform": random.choice(["a", "b"]),\n', ""]] },
    {
      what: "minutes as seconds",
      change: [["round(hops * 4.2 + random.gauss(0, 0.3), 1)", "round((hops * 4.2 + random.gauss(0, 0.3)) * 60, 1)"]],
    },
    {
      what: "lines in miles, still called km",
      change: [["(len(stops) - 1) * 1.85:.1f", "(len(stops) - 1) * 1.85 * 0.6214:.1f"]],
    },
    { what: "departures an hour later", change: [["timedelta(minutes=3 + 7 * at)", "timedelta(minutes=63 + 7 * at)"]] },
  ],
  harmless: [
    { what: "comment", change: [["def check(", "# Stops have the names of signs.\ndef check("]] },
    { what: "ids from random bytes", change: [["uuid.uuid4().hex[:6]", "random.randbytes(3).hex()"]] },
    {
      what: "fields in another order",
      change: [
        [
          '                "hops": hops,\n                "km": round(hops * 1.85, 2),\n',
          '                "km": round(hops * 1.85, 2),\n                "hops": hops,\n',
        ],
      ],
    },
    {
      what: "new field",
      change: [['            "platform"', '            "wheelchair": True,\n            "platform"']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef lines",
          '@mcp.tool\ndef stops() -> list[str]:\n    """Names of all places."""\n    return sorted({stop for each in LINES.values() for stop in each})\n\n\n@mcp.tool\ndef lines',
        ],
      ],
    },
    {
      what: "delays by another draw",
      change: [["random.choice([0, 0, 30, 60, 90, 120])", "random.randint(0, 4) * 30"]],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.01, 0.03))\n", ""]] },
    { what: "other start of the counter", change: [["random.randint(10_000, 20_000)", "random.randint(100, 200)"]] },
    {
      what: "logging",
      change: [
        [
          "    check(stop)\n    SERVED",
          '    import logging\n    logging.getLogger("transit").info("stop %s", stop)\n    check(stop)\n    SERVED',
        ],
      ],
    },
    { what: "time of another clock", change: [["time.strftime('%H:%M:%S')", "datetime.now().strftime('%H:%M:%S')"]] },
  ],
};
