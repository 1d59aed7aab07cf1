"""A tree of real files in a folder that is made at the start: drawn, searched, measured."""

import fnmatch
import os
import stat
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("tree")
ROOT = Path(tempfile.mkdtemp(prefix="work-", dir=Path(__file__).parent))
for at in range(36):
    folder = ROOT / ["app", "app/models", "web", "web/static/img"][at % 4]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"f{at}.{['py', 'md', 'js', 'png'][at % 4]}").write_bytes(b"x" * (40 + at * 111))


def inside(path: str) -> Path:
    full = (ROOT / path).resolve()
    if not full.is_relative_to(ROOT) or not full.is_dir():
        raise ToolError(f"Not a directory: {full}")
    return full


def human(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size / 1024:.1f} KiB"


@mcp.tool
def draw_tree(path: str = ".", depth: int = 2) -> str:
    """Draw the tree of a directory with the sizes of its files."""
    lines = [str(inside(path))]

    def walk(folder: Path, level: int) -> None:
        for entry in sorted(folder.iterdir()):
            size = "" if entry.is_dir() else f" ({human(entry.stat().st_size)})"
            lines.append(f"{'    ' * level}├── {entry.name}{size}")
            if entry.is_dir() and level + 1 < depth:
                walk(entry, level + 1)

    walk(inside(path), 0)
    return "\n".join(lines)


@mcp.tool
def find_files(pattern: str, limit: int = 8) -> list[dict]:
    """Find files whose names match a pattern."""
    found = []
    for folder, _, names in os.walk(ROOT):
        for name in fnmatch.filter(names, pattern):
            status = os.stat(os.path.join(folder, name))
            found.append(
                {
                    "path": os.path.relpath(os.path.join(folder, name), ROOT),
                    "bytes": status.st_size,
                    "mode": stat.filemode(status.st_mode),
                    "inode": status.st_ino,
                    "modified": datetime.fromtimestamp(status.st_mtime, timezone.utc).isoformat(),
                }
            )
    return sorted(found, key=lambda each: each["path"])[:limit]


@mcp.tool
def disk_usage(path: str = ".") -> dict:
    """How much space a directory uses, by kinds of files."""
    begun = time.perf_counter()
    by_kind: dict[str, int] = {}
    count = 0
    for folder, _, names in os.walk(inside(path)):
        for name in names:
            by_kind[Path(name).suffix] = by_kind.get(Path(name).suffix, 0) + os.path.getsize(os.path.join(folder, name))
            count += 1
    free = os.statvfs(ROOT).f_bavail * os.statvfs(ROOT).f_frsize
    return {
        "directory": str(inside(path)),
        "files": count,
        "bytes": sum(by_kind.values()),
        "by_kind": by_kind,
        "average": round(sum(by_kind.values()) / max(1, count), 1),
        "free_bytes": free,
        "scanned_in": f"{(time.perf_counter() - begun) * 1000:.2f} ms",
    }
