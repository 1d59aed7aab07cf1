import type { BenchServer } from "./bench-server.ts";

export const builds: BenchServer = {
  name: "builds",
  calls: [
    ...["engine", "site", "docs", "moon"].map((project) => ["build_status", { project }] as const),
    ["build_log", { project: "engine" }],
    ["build_log", { project: "site", step: "compile", lines: 3 }],
    ["build_log", { project: "docs", step: "deploy" }],
    ["build_log", { project: "docs", step: "install", lines: 12 }],
    ...["engine", "docs", "moon"].map((project) => ["build_summary", { project }] as const),
    ["build_summary", { project: "site", days: 9 }],
  ],
  questions: [
    "What is the status of the latest build of the project engine right now?",
    "Show the last lines of the log of the step test.",
    "Give a summary of the builds of the past days with the pass rate.",
  ],
  faults: [
    { what: "argument step is now required", change: [['step: str = "test", lines', "step: str, lines"]] },
    { what: "progress in percent", change: [["progress=round(done, 2)", "progress=round(done * 100)"]] },
    {
      what: "elapsed as a number",
      change: [
        ["    elapsed: str\n", "    elapsed: float\n"],
        ['elapsed=f"{int(ran // 60)}m {int(ran % 60):02d}s"', "elapsed=round(ran, 1)"],
      ],
    },
    {
      what: "pass rate is the rate of failures",
      change: [["round(1 - failed / built, 3)", "round(failed / built, 3)"]],
    },
    {
      what: "95th percentile in milliseconds",
      change: [["round(seconds * random.uniform(1.19, 1.21), 1)", "round(seconds * random.uniform(1190, 1210), 1)"]],
    },
    {
      what: "only the first half of the days",
      change: [["for n in range(days):\n        builds", "for n in range((days + 1) // 2):\n        builds"]],
    },
  ],
  harmless: [
    {
      what: "comment and a constant",
      change: [["STEPS = [", "# In their order.\nDAY = timedelta(days=1)\nSTEPS = ["]],
    },
    {
      what: "commit from another source",
      change: [["random.randbytes(20).hex()", 'f"{random.getrandbits(160):040x}"']],
    },
    { what: "more runners", change: [["random.randint(1, 6)", "random.randint(1, 9)"]] },
    {
      what: "states drawn by weights",
      change: [
        [
          'random.choice(["running", "running", "passed", "failed"])',
          'random.choices(["running", "passed", "failed"], [2, 1, 1])[0]',
        ],
      ],
    },
    {
      what: "new field of the model",
      change: [["    usual_seconds: float\n", '    usual_seconds: float\n    branch: str = "main"\n']],
    },
    { what: "time aware of its zone", change: [["at = datetime.now()", "at = datetime.now(timezone.utc)"]] },
    {
      what: "days by a comprehension",
      change: [
        [
          '    per_day = {}\n    for n in range(days):\n        builds = 12 + n * 5\n        per_day[(date.today() - timedelta(days=n)).isoformat()] = {"builds": builds, "failed": builds // 6}\n',
          '    today = date.today()\n    counts = [(n, 12 + n * 5) for n in range(days)]\n    per_day = {\n        (today - timedelta(days=n)).isoformat(): {"builds": builds, "failed": builds // 6} for n, builds in counts\n    }\n',
        ],
      ],
    },
    {
      what: "flaky tests shuffled",
      change: [
        [
          'random.sample(["login", "upload", "search", "export", "theme"], random.randint(0, 3))',
          'random.sample(["theme", "export", "search", "upload", "login"], random.choice([0, 1, 2, 3]))',
        ],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.003, 0.009))\n", ""]] },
    { what: "pids of a larger machine", change: [["random.randint(300, 9000)", "random.randint(2000, 60000)"]] },
  ],
};
