import type { BenchServer } from "./bench-server.ts";

export const users: BenchServer = {
  name: "users",
  calls: [
    ...["red", "green", "purple"].map((group) => ["find_users", { group }] as const),
    ["find_users", { group: "blue", page: 2 }],
    ["find_users", { group: "red", page: 3 }],
    ...["user3", "user18", "user41", "ghost"].map((login) => ["profile", { login }] as const),
    ["profile", { login: "user7", verbose: true }],
    ["profile", { login: "user22", verbose: true }],
    ["storage_report", {}],
    ["storage_report", { group: "blue" }],
  ],
  questions: [
    "Find the users of the red group.",
    "Show the profile of the login user3.",
    "Report how much storage a group uses.",
  ],
  faults: [
    {
      what: "argument login renamed to username",
      change: [
        ["def profile(login: str,", "def profile(username: str,"],
        [
          "    time.sleep(random.uniform(0.004, 0.009))\n",
          "    login = username\n    time.sleep(random.uniform(0.004, 0.009))\n",
        ],
      ],
    },
    {
      what: "heights in feet",
      change: [['"height_m": round(1.5 + at % 50 / 100, 2)', '"height_m": round((1.5 + at % 50 / 100) * 3.2808, 2)']],
    },
    { what: "paging off by one", change: [["found[(page - 1) * 6 : page * 6]", "found[page * 6 : (page + 1) * 6]"]] },
    { what: "active as a number", change: [['"active": at % 6 != 0', '"active": int(at % 6 != 0)']] },
    { what: "another text of error", change: [["User {login} was not found", "404: {login}"]] },
    {
      what: "storage in GB, still called MB",
      change: [['total = sum(u["storage_mb"] for u in chosen)', 'total = sum(u["storage_mb"] for u in chosen) / 1024']],
    },
  ],
  harmless: [
    { what: "comment", change: [["GROUPS =", "# Colors.\nGROUPS ="]] },
    {
      what: "other numbers of calls at the start",
      change: [["random.randint(1000, 9000)", "random.randint(2000, 3000)"]],
    },
    {
      what: "fields in another order",
      change: [
        [
          '        "login": f"user{at}",\n        "group": GROUPS[at % 3],\n',
          '        "group": GROUPS[at % 3],\n        "login": f"user{at}",\n',
        ],
      ],
    },
    {
      what: "new field",
      change: [['        "active": at % 6 != 0,\n', '        "active": at % 6 != 0,\n        "locale": "en",\n']],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef storage_report",
          '@mcp.tool\ndef groups() -> list[str]:\n    """Names of all groups."""\n    return GROUPS\n\n\n@mcp.tool\ndef storage_report',
        ],
      ],
    },
    {
      what: "index in place of a loop",
      change: [
        [
          '    for user in USERS:\n        if user["login"] == login:\n',
          '    for user in filter(lambda u: u["login"] == login, USERS):\n        if user:\n',
        ],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.004, 0.009))\n", ""]] },
    {
      what: "logging",
      change: [
        [
          "    found = [u for u in USERS",
          '    import logging\n    logging.getLogger("users").info("find %s", group)\n    found = [u for u in USERS',
        ],
      ],
    },
    {
      what: "report in two steps",
      change: [
        [
          '    return f"{len(chosen)} users use {total:.2f} MB, {total / len(chosen):.2f} MB each (report {uuid.uuid4()})"',
          '    each = total / len(chosen)\n    report = uuid.uuid4()\n    return f"{len(chosen)} users use {total:.2f} MB, {each:.2f} MB each (report {report})"',
        ],
      ],
    },
    {
      what: "time of the same form from another clock",
      change: [
        [
          "int(time.time()) - random.randint(1, 60)",
          "int(datetime.now(timezone.utc).timestamp()) - random.randint(1, 60)",
        ],
      ],
    },
  ],
};
