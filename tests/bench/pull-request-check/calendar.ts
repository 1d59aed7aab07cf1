import type { BenchServer } from "./bench-server.ts";

export const calendar: BenchServer = {
  name: "calendar",
  calls: [
    ...["2026-05-04", "2026-05-07", "2026-05-12", "2027-01-01"].map((day) => ["events_of_day", { day }] as const),
    ["events_of_day", { day: "2026-05-05", room: "Cedar" }],
    ...["evt000", "evt007", "evt031", "evt999"].map((event) => ["event_details", { event }] as const),
    ["free_slots", { day: "2026-05-04" }],
    ["free_slots", { day: "2026-05-06", minutes: 75 }],
  ],
  questions: [
    "List all events of the day 2026-05-04 in order.",
    "Give the details of event evt007 with its guests.",
    "Which free times are long enough on 2026-05-06?",
  ],
  faults: [
    {
      what: "argument day renamed to date",
      change: [
        ["def free_slots(day: str,", "def free_slots(date: str,"],
        ["    busy = sorted(", "    day = date\n    busy = sorted("],
      ],
    },
    {
      what: "times without a time zone",
      change: [['"begin": begin.isoformat(),', '"begin": begin.replace(tzinfo=None).isoformat(),']],
    },
    {
      what: "field guests lost",
      change: [
        [
          '    return {**EVENTS[event], "answers"',
          '    shown = {k: v for k, v in EVENTS[event].items() if k != "guests"}\n    return {**shown, "answers"',
        ],
      ],
    },
    { what: "time in milliseconds", change: [['"now": time.time()', '"now": time.time() * 1000']] },
    { what: "last event of a day left out", change: [['"events": found,', '"events": found[:-1],']] },
    {
      what: "free times described as the list of events",
      change: [["Free times on a day that are long enough.", "List all events of the day in order."]],
    },
  ],
  harmless: [
    { what: "comment", change: [["ROOMS =", "# Trees.\nROOMS ="]] },
    { what: "token of the same form", change: [["secrets.token_hex(5)", "random.randbytes(5).hex()"]] },
    {
      what: "fields in another order",
      change: [
        [
          '        "subject": f"Meeting {at}",\n        "room": ROOMS[at % 3],\n',
          '        "room": ROOMS[at % 3],\n        "subject": f"Meeting {at}",\n',
        ],
      ],
    },
    {
      what: "answers from a table",
      change: [
        ['random.choice(["yes", "no", "maybe"])', "random.choice(ANSWERS)"],
        ["EVENTS = {}", 'ANSWERS = ("yes", "no", "maybe")\nEVENTS = {}'],
      ],
    },
    {
      what: "new field",
      change: [
        ['        "minutes": 30 + at % 2 * 30,\n', '        "minutes": 30 + at % 2 * 30,\n        "private": False,\n'],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef free_slots",
          '@mcp.tool\ndef rooms() -> list[str]:\n    """Where people meet."""\n    return ROOMS\n\n\n@mcp.tool\ndef free_slots',
        ],
      ],
    },
    {
      what: "filter by a helper",
      change: [
        [
          '    found = [e for e in EVENTS.values() if e["begin"].startswith(day) and room in (None, e["room"])]',
          '    found = [e for e in EVENTS.values() if e["begin"].startswith(day)]\n    if room is not None:\n        found = [e for e in found if e["room"] == room]',
        ],
      ],
    },
    {
      what: "time from another clock",
      change: [['"now": time.time()', '"now": datetime.now(timezone.utc).timestamp()']],
    },
    {
      what: "a wait of some milliseconds more",
      change: [["random.uniform(0.001, 0.004)", "random.uniform(0.008, 0.015)"]],
    },
    {
      what: "new optional argument",
      change: [
        ["def event_details(event: str) -> dict:", "def event_details(event: str, expand: bool = True) -> dict:"],
      ],
    },
  ],
};
