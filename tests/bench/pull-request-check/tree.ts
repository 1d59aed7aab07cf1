import type { BenchServer } from "./bench-server.ts";

export const tree: BenchServer = {
  name: "tree",
  calls: [
    ["draw_tree", {}],
    ["draw_tree", { path: "app" }],
    ["draw_tree", { path: "web", depth: 4 }],
    ["draw_tree", { path: "../.." }],
    ...["*.py", "f1*", "*.jpg"].map((pattern) => ["find_files", { pattern }] as const),
    ["find_files", { pattern: "*", limit: 20 }],
    ["disk_usage", {}],
    ["disk_usage", { path: "app/models" }],
    ["disk_usage", { path: "web/static" }],
    ["disk_usage", { path: "nowhere" }],
  ],
  questions: [
    "Draw the tree of the directory app with sizes.",
    "Find files whose names match *.py.",
    "How much space does the directory web use?",
  ],
  faults: [
    {
      what: "argument pattern renamed to glob",
      change: [
        ["def find_files(pattern: str, limit", "def find_files(glob: str, limit"],
        ["fnmatch.filter(names, pattern)", "fnmatch.filter(names, glob)"],
      ],
    },
    { what: "kilobytes of 1000 bytes, still called KiB", change: [["{size / 1024:.1f} KiB", "{size / 1000:.1f} KiB"]] },
    {
      what: "absolute paths",
      change: [["os.path.relpath(os.path.join(folder, name), ROOT)", "os.path.join(folder, name)"]],
    },
    {
      what: "files of folders below left out",
      change: [["            count += 1\n", "            count += 1\n        break\n"]],
    },
    { what: "mode as a number", change: [["stat.filemode(status.st_mode)", "stat.S_IMODE(status.st_mode)"]] },
    { what: "an empty list where few match", change: [["[:limit]", "[: limit if len(found) > 12 else 0]"]] },
  ],
  harmless: [
    { what: "comment", change: [["def human(", "# For people.\ndef human("]] },
    { what: "folder of another name", change: [['prefix="work-"', 'prefix="checkout-"']] },
    {
      what: "scandir in place of iterdir",
      change: [
        [
          "for entry in sorted(folder.iterdir()):",
          "for entry in sorted(Path(each.path) for each in os.scandir(folder)):",
        ],
      ],
    },
    {
      what: "kinds in another order",
      change: [['"by_kind": by_kind,', '"by_kind": dict(sorted(by_kind.items(), reverse=True)),']],
    },
    { what: "files made in the reverse order", change: [["for at in range(36):", "for at in reversed(range(36)):"]] },
    {
      what: "new field",
      change: [
        ['                    "inode"', '                    "links": status.st_nlink,\n                    "inode"'],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef disk_usage",
          '@mcp.tool\ndef kinds() -> list[str]:\n    """Suffixes that occur."""\n    return sorted({each.suffix for each in ROOT.rglob("*") if each.is_file()})\n\n\n@mcp.tool\ndef disk_usage',
        ],
      ],
    },
    {
      what: "resolves the folder once",
      change: [
        [
          "    begun = time.perf_counter()\n    by_kind",
          "    begun = time.perf_counter()\n    top = inside(path)\n    by_kind",
        ],
        ["in os.walk(inside(path)):", "in os.walk(top):"],
        ['"directory": str(inside(path)),', '"directory": str(top),'],
      ],
    },
    {
      what: "free space by another call",
      change: [["os.statvfs(ROOT).f_bavail * os.statvfs(ROOT).f_frsize", "__import__('shutil').disk_usage(ROOT).free"]],
    },
    {
      what: "time modified by nanoseconds",
      change: [
        [
          "datetime.fromtimestamp(status.st_mtime, timezone.utc)",
          "datetime.fromtimestamp(status.st_mtime_ns / 1e9, timezone.utc)",
        ],
      ],
    },
  ],
};
