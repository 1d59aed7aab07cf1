import type { BenchServer } from "./bench-server.ts";

export const chat: BenchServer = {
  name: "chat",
  calls: [
    ["list_channels", {}],
    ["list_channels", { include_archived: true }],
    ...["general", "support", "design", "nowhere"].map((channel) => ["channel_history", { channel }] as const),
    ["channel_history", { channel: "support", limit: 2 }],
    ["channel_history", { channel: "general", limit: 10 }],
    ...["general.0", "support.3", "support.7", "support.99"].map((id) => ["thread", { id }] as const),
    ...["ana", "kim", "lee", "zoe"].map((user) => ["profile", { user }] as const),
  ],
  questions: [
    "List the channels and their topics.",
    "What are the latest messages of the channel support?",
    "Show the replies to the message general.0.",
    "What is the local time of the user kim?",
  ],
  faults: [
    { what: "history oldest first", change: [["key=lambda row: row[1])", "key=lambda row: -row[1])"]] },
    {
      what: "archived channels by default",
      change: [["include_archived: bool = False", "include_archived: bool = True"]],
    },
    { what: "messages cut after 30 characters", change: [["ago: {post.text}", "ago: {post.text[:30]}"]] },
    {
      what: "field reactions lost",
      change: [
        ["    reactions: dict[str, int]\n", ""],
        ["sent_at=sent.isoformat(), reactions=reactions)", "sent_at=sent.isoformat())"],
      ],
    },
    {
      what: "unknown channel as an empty one",
      change: [['        raise ToolError(f"channel_not_found: {channel}")\n', "        return []\n"]],
    },
    {
      what: "time zone of the local time dropped",
      change: [
        [
          'datetime.now(timezone(timedelta(hours=hours))).isoformat(timespec="seconds")',
          'datetime.now(timezone(timedelta(hours=hours))).strftime("%Y-%m-%dT%H:%M:%S")',
        ],
      ],
    },
  ],
  harmless: [
    { what: "typo in a comment", change: [["hiden", "hidden"]] },
    {
      what: "new optional argument",
      change: [
        [
          "def channel_history(channel: str, limit: int = 5)",
          "def channel_history(channel: str, limit: int = 5, skip: int = 0)",
        ],
        ["in log_of(channel)[:limit]:", "in log_of(channel)[skip : skip + limit]:"],
      ],
    },
    { what: "new field", change: [['"status": None}', '"status": None, "is_bot": False}']] },
    {
      what: "new optional field of messages",
      change: [
        ["    reactions: dict[str, int]\n", "    reactions: dict[str, int]\n    edited_at: str | None = None\n"],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef thread",
          '@mcp.tool\ndef emoji() -> list[str]:\n    """Emoji that people can pick."""\n    return ["thumbsup", "tada", "eyes"]\n\n\n@mcp.tool\ndef thread',
        ],
      ],
    },
    { what: "participants sorted", change: [[", key=lambda _: random.random())", ")"]] },
    { what: "faster", change: [["    time.sleep(random.uniform(0.005, 0.02))\n", ""]] },
    {
      what: "logging",
      change: [
        [
          "    if user not in USERS:\n",
          '    import logging\n    logging.getLogger("chat").info("profile of %s", user)\n    if user not in USERS:\n',
        ],
      ],
    },
    {
      what: "sorted once at the start",
      change: [
        ["    return sorted(LOG.get(channel, []), key=lambda row: row[1])\n", "    return SORTED.get(channel, [])\n"],
        [
          "\n\ndef log_of",
          "\nSORTED = {name: sorted(rows, key=lambda row: row[1]) for name, rows in LOG.items()}\n\n\ndef log_of",
        ],
      ],
    },
    {
      what: "description in other words",
      change: [
        [
          "Latest messages of a channel as Markdown, newest first.",
          "The latest messages of a channel, newest first, as Markdown.",
        ],
      ],
    },
  ],
};
