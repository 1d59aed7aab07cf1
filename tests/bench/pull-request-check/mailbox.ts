import type { BenchServer } from "./bench-server.ts";

const cursor = (at: number) => Buffer.from(`${at}:00c0ffee00c0ffee`).toString("base64");

export const mailbox: BenchServer = {
  name: "mailbox",
  calls: [
    ...["inbox", "sent", "archive", "spam"].map((folder) => ["list_messages", { folder }] as const),
    ["list_messages", { folder: "inbox", cursor: cursor(5) }],
    ["list_messages", { folder: "archive", cursor: cursor(27), size: 10 }],
    ...["inbox-0", "inbox-2", "sent-7", "archive-30", "inbox-99"].map((id) => ["read_message", { id }] as const),
    ["search_mail", { sender: "ines" }],
    ["search_mail", { sender: "example.org", unread_only: true }],
    ["search_mail", { sender: "nobody" }],
  ],
  questions: [
    "List the newest messages of the folder inbox.",
    "Read the message inbox-2 with its headers.",
    "Search mail of the sender ines in all folders.",
  ],
  faults: [
    {
      what: "cursor renamed to after",
      change: [
        ["cursor: str | None = None, size", "after: str | None = None, size"],
        [
          'urlsafe_b64decode(cursor).split(b":")[0]) if cursor else 0',
          'urlsafe_b64decode(after).split(b":")[0]) if after else 0',
        ],
      ],
    },
    {
      what: "size in bytes, still called kb",
      change: [['"size_kb": round(3.2 + at * 1.7, 1)', '"size_kb": round((3.2 + at * 1.7) * 1024)']],
    },
    { what: "always a next cursor", change: [["following if first + size < len(own) else None", "following"]] },
    {
      what: "addresses without their domain",
      change: [['"from": PEOPLE[at % 3],', '"from": PEOPLE[at % 3].split("@")[0],']],
    },
    { what: "messages without attachments", change: [["{parts}--{boundary}--", "--{boundary}--"]] },
    {
      what: "unread messages left out of a search",
      change: [['(m["unread"] or not unread_only)', '(m["unread"] if unread_only else not m["unread"])']],
    },
  ],
  harmless: [
    {
      what: "cursor with a longer nonce",
      change: [["{first + size}:{secrets.token_hex(8)}", "{first + size}:{secrets.token_hex(12)}"]],
    },
    {
      what: "slices by a helper",
      change: [
        ["[shown(m) for m in own[first : first + size]]", "[shown(m) for m in page(own, first, size)]"],
        [
          "def shown(",
          "def page(all_of_it: list, first: int, size: int) -> list:\n    return all_of_it[first : first + size]\n\n\ndef shown(",
        ],
      ],
    },
    {
      what: "boundary of another library",
      change: [["boundary = secrets.token_hex(10)", "boundary = random.randbytes(10).hex()"]],
    },
    {
      what: "folders as a table of objects",
      change: [
        ["for folder, count in FOLDERS.items()", "for folder, count in [(name, FOLDERS[name]) for name in FOLDERS]"],
      ],
    },
    { what: "new field", change: [['        "attachments": [', '        "labels": [],\n        "attachments": [']] },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef read_message",
          '@mcp.tool\ndef folders() -> dict:\n    """Names of boxes and how full each is."""\n    return FOLDERS\n\n\n@mcp.tool\ndef read_message',
        ],
      ],
    },
    {
      what: "an index in place of a loop",
      change: [
        [
          '    for m in MAIL:\n        if m["id"] == id:\n',
          '    by_id = {m["id"]: m for m in MAIL}\n    if m := by_id.get(id):\n        if True:\n',
        ],
      ],
    },
    {
      what: "a wait of some milliseconds more",
      change: [["random.uniform(0.002, 0.01)", "random.uniform(0.006, 0.018)"]],
    },
    {
      what: "moments in minutes alone",
      change: [["timedelta(hours=at * 5, minutes=at * 7 % 30)", "timedelta(minutes=at * 300 + at * 7 % 30)"]],
    },
    { what: "scores without a tie", change: [["random.uniform(0, 0.001)", "random.uniform(0.0001, 0.0009)"]] },
  ],
};
