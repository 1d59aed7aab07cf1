"""Copies the server's code to a directory that it may write to, in memory and gone with the instance (decision 044)."""

from __future__ import annotations

import importlib
import os
import site
import sys
from collections import deque

#: Limits of the copy, in entries and bytes: it counts as the server's memory and delays its start.
MAX_ENTRIES = 5000
MAX_BYTES = 64 * 1024 * 1024


def place_code(layer: str, target: str) -> None:
    """Fills the empty directory `target` with the code of `layer`, whose files must not change. Outer directories come
    first. Files that don't fit become links to the layer: they can be read and replaced, not changed.
    """
    entries = MAX_ENTRIES
    # Half of the directory is reserved for the server's own files.
    space = os.statvfs(target)
    room = min(MAX_BYTES, space.f_bavail * space.f_frsize // 2)
    linked = 0
    pending = deque([""])
    while pending:
        inner = pending.popleft()
        source, copy = os.path.join(layer, inner), os.path.join(target, inner)
        with os.scandir(source) as listed:
            found = list(listed)
        if inner and len(found) > entries:
            os.symlink(source, copy)
            linked += 1
            continue
        if inner:
            os.mkdir(copy, 0o755)
        for entry in found:
            entries -= 1
            path = os.path.join(copy, entry.name)
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_dir():
                pending.append(os.path.join(inner, entry.name))
            else:
                size = entry.stat().st_size
                if entries >= 0 and size <= room and _copied(entry, path, size):
                    room -= size
                else:
                    os.symlink(entry.path, path)
                    linked += 1
    if linked:
        print(
            f"The code is larger than what a server may write to ({MAX_ENTRIES} files, {MAX_BYTES >> 20} MiB, "
            f"half of the space): {linked} of its files and directories can't be changed in place.",
            flush=True,
        )
    importlib.invalidate_caches()
    _add_site_paths()


def _copied(entry: os.DirEntry[str], path: str, size: int) -> bool:
    """False if there is no space left for it."""
    mode = 0o755 if entry.stat().st_mode & 0o111 else 0o644
    source = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            while size > 0 and (sent := os.sendfile(copy, source, None, size)) > 0:
                size -= sent
        except OSError:
            os.unlink(path)
            return False
        finally:
            os.close(copy)
    finally:
        os.close(source)
    return True


def pth_files(directory: str) -> list[str]:
    """The `.pth` files of a `site-packages` directory, in the order in which Python reads them."""
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    return [os.path.join(directory, name) for name in names if name.endswith(".pth")]


def pth_lines(path: str) -> list[str]:
    """Its lines without comments."""
    with open(path, encoding="utf-8-sig", errors="replace") as stream:
        return [line for line in stream.read().splitlines() if line.strip() and not line.startswith("#")]


def _add_site_paths() -> None:
    """Adds directories of the code that `.pth` files name: they did not exist when Python looked."""
    for directory in site.getsitepackages():
        if directory not in sys.path:
            continue
        named = [os.path.join(directory, line.strip()) for path in pth_files(directory) for line in pth_lines(path)]
        known = {*sys.path, os.getcwd()}
        at = sys.path.index(directory) + 1
        sys.path[at:at] = [path for path in dict.fromkeys(named) if path not in known and os.path.isdir(path)]
