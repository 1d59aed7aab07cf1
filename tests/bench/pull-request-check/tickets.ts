import type { BenchServer } from "./bench-server.ts";

export const tickets: BenchServer = {
  name: "tickets",
  calls: [
    ...["printer", "login", "network", "nothing"].map((text) => ["search_tickets", { text }] as const),
    ["search_tickets", { text: "email", state: "open" }],
    ["search_tickets", { text: "problem", limit: 12 }],
    ...[1, 4, 17, 33].map((id) => ["get_ticket", { id }] as const),
    ["get_ticket", { id: 999 }],
    ["statistics", {}],
  ],
  questions: [
    "Search tickets with the word printer in the title.",
    "Show ticket 17 with its assignee.",
    "Count the tickets by state.",
  ],
  faults: [
    {
      what: "argument text renamed to query",
      change: [
        ["def search_tickets(text: str,", "def search_tickets(query: str,"],
        ["    began =", "    text = query\n    began ="],
      ],
    },
    { what: "minutes as seconds", change: [['"minutes_spent": at * 11 % 240', '"minutes_spent": at * 11 % 240 * 60']] },
    { what: "field email of the assignee lost", change: [[', "email": f"agent{at % 4}@desk.example"', ""]] },
    {
      what: "search slower",
      change: [["    began = time.perf_counter()\n", "    began = time.perf_counter()\n    time.sleep(0.15)\n"]],
    },
    {
      what: "another text of error",
      change: [["Ticket {id} does not exist. Search for it by its title.", "Ticket {id} is not in the system."]],
    },
    { what: "default of limit changed", change: [["limit: int = 5", "limit: int = 3"]] },
  ],
  harmless: [
    { what: "comment", change: [["WORDS =", "# Things that break.\nWORDS ="]] },
    {
      what: "another start of the counter",
      change: [["random.randint(1, 100_000)", "random.randint(500_000, 900_000)"]],
    },
    { what: "other source of ids of the same form", change: [["secrets.token_hex(8)", "random.randbytes(8).hex()"]] },
    {
      what: "shuffled in another way",
      change: [
        [
          "    random.shuffle(found := found[:limit])\n",
          "    found = random.sample(found[:limit], len(found[:limit]))\n",
        ],
      ],
    },
    { what: "new field", change: [['"viewers": random', '"watched": False, "viewers": random']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef statistics",
          '@mcp.tool\ndef agents() -> list[str]:\n    """Who works at the desk."""\n    return [f"Agent {at}" for at in range(4)]\n\n\n@mcp.tool\ndef statistics',
        ],
      ],
    },
    {
      what: "filter by a helper",
      change: [
        [
          '    found = [t for t in TICKETS.values() if text.lower() in t["title"].lower() and state in (None, t["state"])]',
          '    def matches(t: dict) -> bool:\n        return text.lower() in t["title"].lower() and state in (None, t["state"])\n\n    found = list(filter(matches, TICKETS.values()))',
        ],
      ],
    },
    {
      what: "logging",
      change: [
        [
          "    ticket = TICKETS[id]\n",
          '    ticket = TICKETS[id]\n    import logging\n    logging.getLogger("desk").warning("shown %s", id)\n',
        ],
      ],
    },
    {
      what: "slower by some milliseconds",
      change: [["    began = time.perf_counter()\n", "    began = time.perf_counter()\n    time.sleep(0.012)\n"]],
    },
    {
      what: "counted in one pass",
      change: [
        ['{state: sum(t["state"] == state for t in TICKETS.values()) for state in STATES}', "counted()"],
        [
          "@mcp.tool\ndef statistics",
          'def counted() -> dict:\n    counts = dict.fromkeys(STATES, 0)\n    for t in TICKETS.values():\n        counts[t["state"]] += 1\n    return counts\n\n\n@mcp.tool\ndef statistics',
        ],
      ],
    },
  ],
};
