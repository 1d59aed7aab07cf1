"""Files of a build's volumes, where a tenant's steps may have put links anywhere."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import struct
from collections.abc import Iterator
from typing import Any

from .http_service import RequestError

_MODES = {"read": 0o644, "execute": 0o755, "shared": 0o666}
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_MAX_HEADER = 64 * 1024


def write_entries(volume: str, body: io.BufferedIOBase) -> None:
    """Writes entries, each of which is its description as JSON and, for a file, its content in parts that end with an
    empty one. Parts begin with their length (4 bytes, big-endian). Follows no link.
    """
    root = os.open(volume, _DIRECTORY)
    directory: tuple[list[str], int] = ([], root)
    try:
        while (header := _part(body, _MAX_HEADER, may_end=True)) is not None:
            entry = json.loads(header)
            parts = _names(entry["path"])
            parents = parts if entry["kind"] == "directory" else parts[:-1]
            if parents != directory[0]:
                if directory[1] != root:
                    os.close(directory[1])
                directory = ([], root)
                directory = (parents, _enter(root, parents))
            if entry["kind"] == "link":
                os.symlink(entry["target"], parts[-1], dir_fd=directory[1])
            if entry["kind"] == "file":
                _write_new(directory[1], parts[-1], _MODES[entry["access"]], _parts(body))
    finally:
        if directory[1] != root:
            os.close(directory[1])
        os.close(root)


def open_output(volume: str, path: str, max_bytes: int) -> tuple[int, int]:
    """A file descriptor of an ordinary file that no link leads to, and its size."""
    parts = _names(path)
    unreadable = RequestError("unreadable", f"{path} is not an ordinary file, or too large.")
    at = os.open(volume, _DIRECTORY)
    try:
        for part in parts[:-1]:
            above = at
            at = os.open(part, _DIRECTORY, dir_fd=above)
            os.close(above)
        # Doesn't block on a pipe.
        file = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        expected = (errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.EACCES, errno.ENOTDIR)
        raise unreadable if error.errno in expected else error from None
    finally:
        os.close(at)
    found = os.fstat(file)
    if stat.S_ISREG(found.st_mode) and found.st_size <= max_bytes:
        return file, found.st_size
    os.close(file)
    raise unreadable


def _part(body: io.BufferedIOBase, most: int, may_end: bool = False) -> bytes | None:
    size = body.read(4)
    if may_end and not size:
        return None
    length = struct.unpack(">I", size)[0] if len(size) == 4 else most + 1
    if length > most:
        raise RequestError("invalid_spec", "The entries are damaged.")
    content = body.read(length)
    if len(content) < length:
        raise RequestError("invalid_spec", "The entries are incomplete.")
    return content


def _parts(body: io.BufferedIOBase) -> Iterator[bytes]:
    while part := _part(body, 1 << 30):
        yield part


def _names(path: Any) -> list[str]:
    names = str(path).split("/")
    if any(name in ("", ".", "..") for name in names):
        raise RequestError("invalid_spec", f"{json.dumps(path)} is no path in a volume.")
    return names


def _enter(root: int, parts: list[str]) -> int:
    """Makes missing directories. Returns the last one's descriptor, which is `root` if there are no parts."""
    at = root
    for part in parts:
        above = at
        try:
            try:
                os.mkdir(part, 0o755, dir_fd=above)
                at = os.open(part, _DIRECTORY, dir_fd=above)
                os.fchmod(at, 0o755)
            except FileExistsError:
                at = os.open(part, _DIRECTORY, dir_fd=above)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            message = f"{json.dumps('/'.join(parts))} leads through a file or link."
            raise RequestError("invalid_spec", message) from None
        finally:
            if above != root:
                os.close(above)
    return at


def _write_new(directory: int, name: str, mode: int, parts: Iterator[bytes]) -> None:
    """Always a new file: a step may have the old one open, or it may be a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        file = os.open(name, flags, 0o600, dir_fd=directory)
    except FileExistsError:
        os.unlink(name, dir_fd=directory)
        file = os.open(name, flags, 0o600, dir_fd=directory)
    with open(file, "wb") as target:
        os.fchmod(file, mode)
        for part in parts:
            target.write(part)
