"""An index of files: lists a folder, stats, reads lines."""

import hashlib
import os
import random
import time
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("files")
STARTED = datetime.now(timezone.utc)
FOLDERS = ["src", "docs", "tests", "assets"]
FILES = {
    f"{FOLDERS[at % 4]}/file{at:02d}.{'py' if at % 2 else 'md'}": [f"line {n} of file {at}" for n in range(1, 6 + at * 3)]
    for at in range(48)
}


def size_of(path: str) -> int:
    return sum(len(line) + 1 for line in FILES[path])


@mcp.tool
def list_folder(folder: str, offset: int = 0, limit: int = 20) -> dict:
    """List the files of a folder with their sizes in bytes."""
    names = sorted(name for name in FILES if name.startswith(f"{folder}/"))
    if not names:
        raise ToolError(f"Folder {folder} is empty or missing.")
    shown = [{"path": name, "bytes": size_of(name)} for name in names[offset : offset + limit]]
    return {"folder": folder, "files": shown, "free_gb": round(211 + random.uniform(-0.5, 0.5), 2), "pid": os.getpid()}


@mcp.tool
def stat(path: str) -> dict:
    """Status of one file: size, digest and when the index was made."""
    time.sleep(random.uniform(0, 0.004))
    if path not in FILES:
        raise ToolError(f"[Errno 2] No such file: '{path}' (index at 0x{id(FILES):x})")
    text = "\n".join(FILES[path])
    return {
        "path": path,
        "bytes": size_of(path),
        "lines": len(FILES[path]),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "indexed_at": STARTED.isoformat(),
        "mean_line": round(size_of(path) / len(FILES[path]), 2),
    }


@mcp.tool
def read_lines(path: str, first: int = 1, count: int = 3) -> str:
    """Read some lines of a file as text."""
    if path not in FILES:
        raise ToolError(f"There is no file {path}.")
    return "\n".join(FILES[path][first - 1 : first - 1 + count])
