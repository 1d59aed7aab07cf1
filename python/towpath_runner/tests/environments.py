"""Virtual environments with the real frameworks, made once by uv and kept between runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

#: What is installed for each name; the newest of the major version on the day of the first run.
REQUIREMENTS = {
    "fastmcp2": ["fastmcp>=2,<3"],
    "fastmcp3": ["fastmcp>=3,<4"],
    "fastmcp4": ["fastmcp>=4,<5"],
    "mcp1": ["mcp>=1,<2"],
    "mcp2": ["mcp>=2,<3", "pydantic-settings"],
    "bare": [],
}

HARNESS = Path(__file__).resolve().parent.parent
_DEFAULT_CACHE = HARNESS.parent.parent / ".towpath" / "test-cache"


def cache_folder() -> Path:
    return Path(os.environ.get("TOWPATH_TEST_CACHE") or _DEFAULT_CACHE)


def python_of(name: str) -> Path:
    """The interpreter of an environment; made first when it is missing or its requirements have changed."""
    folder = cache_folder() / f"runner-{name}"
    done = folder / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS[name])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"runner-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            _uv("venv", "--quiet", str(folder))
            if REQUIREMENTS[name]:
                # Bytecode at once, as in a build: the environment of this machine may forbid writing it later.
                python = str(folder / "bin" / "python")
                _uv("pip", "install", "--quiet", "--compile-bytecode", "--python", python, *REQUIREMENTS[name])
            done.write_text(wanted)
    return folder / "bin" / "python"


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments], check=True, timeout=300)
