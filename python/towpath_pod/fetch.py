"""The container beside the server's: gets the layers, hands over what the server starts with, and ends.

It reads the pod's Secret, which the server's container doesn't have: addresses that need no key, with which the server's
code could otherwise read layers for some minutes. The start goes to a file in memory that `serve` deletes. In a pod that
waits for a server, `wait` gets both from the runner.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import http.client
import itertools
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from towpath_pod.report import report

SECRET = "/run/towpath-secret"
LAYERS = "/layers"
START = "/run/towpath-start/start.json"

_TIMEOUT_SECONDS = 30
_ATTEMPTS = 3
_CHUNK = 1 << 20

#: `url`, `directory` and `digest`; `spread`: a directory within it that has most of its files.
Layer = dict[str, str]

#: Of linux/fs.h, and a flag of ext4.
_FS_IOC_GETFLAGS = 0x80086601
_FS_IOC_SETFLAGS = 0x40086602
_TOPDIR = 0x20000


class LayerError(Exception):
    """`code`: `not_found`, `digest_mismatch` or `unavailable`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def fetch(secret: str = SECRET, layers: str = LAYERS, start: str = START) -> int:
    exit_at_sigterm()
    with open(os.path.join(secret, "layers.json"), encoding="utf-8") as file:
        missing: list[Layer] = json.load(file)
    with open(os.path.join(secret, "start.json"), "rb") as file:
        return hand_over(missing, file.read(), layers, start)


def exit_at_sigterm() -> None:
    """The first process of a container ignores signals that it doesn't handle."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))


def hand_over(missing: list[Layer], document: bytes, layers: str = LAYERS, start: str = START) -> int:
    """Gets layers, then lets `serve` begin with a document. Returns the exit status."""
    failures: list[LayerError] = []
    # Once for all threads.
    opener()

    def get(layer: Layer) -> None:
        try:
            _get(layer, os.path.join(layers, layer["directory"]))
        except LayerError as error:
            failures.append(error)
        except OSError as error:
            failures.append(LayerError("unavailable", f"{type(error).__name__}: {error}"))

    threads = [threading.Thread(target=get, args=(layer,)) for layer in missing]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        report({"layer": failures[0].code, "detail": failures[0].detail})
        return 1
    # Whole or not at all, and for this user alone. Code of an interpreter may have made something else of that name.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(start + ".new")
    descriptor = os.open(start + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as target:
        target.write(document)
    os.rename(start + ".new", start)
    return 0


def _read(url: str) -> Iterator[bytes]:
    """What an address has, to its end. A connection that breaks is replaced where it broke, for as long as each attempt
    but a few in a row brings more.
    """
    done = 0
    failures = 0
    while True:
        try:
            with _open(url, done) as response:
                # A service that ignores the range sends all again.
                skip = 0 if response.status == 206 else done
                expected = response.headers.get("Content-Length")
                left = int(expected) if expected is not None else None
                while chunk := response.read1(_CHUNK):
                    if left is not None:
                        left -= len(chunk)
                    fresh = chunk[skip:]
                    skip -= len(chunk) - len(fresh)
                    if fresh:
                        done += len(fresh)
                        failures = 0
                        yield fresh
                # Reading in pieces doesn't report an early end.
                if left:
                    raise http.client.IncompleteRead(b"", left)
                return
        except (OSError, http.client.HTTPException) as error:
            failures += 1
            if failures == _ATTEMPTS:
                raise LayerError("unavailable", f"{type(error).__name__}: {error}") from error
            time.sleep(failures)


@functools.cache
def opener() -> urllib.request.OpenerDirector:
    """Reads the authorities that it trusts, which takes a while: a pod that waits does so ahead of time."""
    return urllib.request.build_opener()


def _open(url: str, start: int) -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        response: http.client.HTTPResponse = opener().open(request, timeout=_TIMEOUT_SECONDS)
        return response
    except urllib.error.HTTPError as error:
        if error.code < 500 and error.code != 429:
            raise LayerError("not_found" if error.code == 404 else "unavailable", f"HTTP {error.code}") from error
        raise


def _spread(directory: str) -> None:
    """Lets ext4 put the directories in it into different groups of blocks. By default all are near the pod's, where ext4
    passes over each file that was deleted in the last minutes, as with every pod that ends, for each file that it creates.
    Unpacking then takes seconds in place of a quarter of one.
    """
    os.makedirs(directory, exist_ok=True)
    # Other file systems have no such flag.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            (flags,) = struct.unpack("l", fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, struct.pack("l", 0)))
            fcntl.ioctl(descriptor, _FS_IOC_SETFLAGS, struct.pack("l", flags | _TOPDIR))
        finally:
            os.close(descriptor)


def _get(layer: Layer, directory: str) -> None:
    """Unpacks while it reads. What has another digest is never used: the pod ends."""
    chunks = _read(layer["url"])
    first = next(chunks, b"")
    os.makedirs(directory, exist_ok=True)
    if "spread" in layer:
        _spread(os.path.join(directory, layer["spread"]))
    argv = ["tar", "--extract", "--zstd", "--preserve-permissions", "--no-same-owner"]
    # Without `.`: the directory is a volume, whose mode only its owner may change.
    argv += ["--strip-components=1", "--directory", directory]
    digest = hashlib.sha256()
    unpack = subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert unpack.stdin is not None and unpack.stderr is not None
    is_read = True
    try:
        for chunk in itertools.chain([first], chunks):
            digest.update(chunk)
            if is_read:
                try:
                    unpack.stdin.write(chunk)
                except BrokenPipeError:
                    # It stops at the archive's end mark, or has failed, which its exit status says.
                    is_read = False
    except BaseException:
        unpack.kill()
        raise
    finally:
        with contextlib.suppress(BrokenPipeError):
            unpack.stdin.close()
        problem = unpack.stderr.read(2000).decode("utf-8", "replace")
        status = unpack.wait()
    if digest.hexdigest() != layer["digest"]:
        raise LayerError("digest_mismatch", "the stored bytes have another digest")
    if status != 0:
        raise LayerError("unavailable", f"tar: {problem.strip()}")


if __name__ == "__main__":
    sys.exit(fetch())
