"""Virtual environments with the real frameworks, made once by uv and kept between runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: Requirements by name; the first run installs the newest release that matches.
REQUIREMENTS = {
    "fastmcp1": ["fastmcp>=1,<2"],
    "fastmcp2": ["fastmcp>=2,<3"],
    "fastmcp3": ["fastmcp>=3,<4"],
    "fastmcp4": ["fastmcp>=4,<5"],
    # The last release that allows mcp 2, but doesn't work with it.
    "fastmcp2.10-mcp2": ["fastmcp==2.10.0", "mcp>=2,<3"],
    "mcp1": ["mcp>=1,<2"],
    "mcp2": ["mcp>=2,<3", "pydantic-settings"],
    # From before streamable HTTP: the low-level server at its first place, and the last release.
    "mcp1.1": ["mcp==1.1.3", "uvicorn", "pydantic<2.12"],
    "mcp1.7": ["mcp==1.7.1", "pydantic<2.12"],
    "bare": [],
    "fastmcp4-python3.10": ["fastmcp>=4,<5"],
    "fastmcp4-python3.13": ["fastmcp>=4,<5"],
}

HARNESS = Path(__file__).resolve().parent.parent
_DEFAULT_CACHE = HARNESS.parent.parent / ".towpath" / "test-cache"


def cache_directory() -> Path:
    return Path(os.environ.get("TOWPATH_TEST_CACHE") or _DEFAULT_CACHE)


def python_of(name: str) -> Path:
    """The interpreter of an environment, which is created if it is missing or its requirements have changed."""
    directory = cache_directory() / f"runner-{name}"
    done = directory / "requirements.txt"
    requirements = "\n".join(REQUIREMENTS[name])
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.parent / f"runner-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text() != requirements:
            shutil.rmtree(directory, ignore_errors=True)
            chosen = ["--python", _interpreter(version)] if (version := name.partition("-python")[2]) else []
            _uv("venv", "--quiet", *chosen, str(directory))
            if REQUIREMENTS[name]:
                # Not compiled: the first start compiles what it imports, a small part of all.
                python = str(directory / "bin" / "python")
                _uv("pip", "install", "--quiet", "--python", python, *REQUIREMENTS[name])
            done.write_text(requirements)
    return directory / "bin" / "python"


def _interpreter(version: str) -> str:
    """A Python of that version on this machine; skips the test if there is none. Downloads nothing."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"))] or [shutil.which(f"python{version}")]
    if found[-1] is None:
        pytest.skip(f"there is no Python {version} on this machine")
    return found[-1]


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments], check=True, timeout=300)
