"""Makes the archive of a layer, and sends it to the artifact store."""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import IO
from urllib.parse import urlsplit

from .http_service import RequestError

# As packages/artifacts packs: the same tree gives the same archive.
_TAR = [
    "tar",
    "--create",
    "--format=posix",
    "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime",
    "--sort=name",
    "--mtime=@0",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    # Regardless of what the step left that should have sealed it.
    "--mode=a-s,go-w,a+rX",
    "--hard-dereference",
    "--no-xattrs",
    "--no-acls",
    "--no-selinux",
    "--blocking-factor=512",
]
_BLOCK = 1 << 20
_MOST_AT_ONCE = 5 * 1024**3
_ATTEMPTS = 3


def pack(directory: str, target: str, max_bytes: int) -> dict[str, object]:
    """Packs a directory, which nothing may change meanwhile, into a new file: tar, compressed by zstd. Returns the digest
    and size of the file. `max_bytes`: before compression.
    """
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)}
    quiet = {"env": environment, "stderr": subprocess.PIPE}
    tar = subprocess.Popen([*_TAR, "--directory", directory, "--", "."], stdout=subprocess.PIPE, **quiet)  # type: ignore[call-overload]
    with open(target, "wb") as packed:
        zstd = subprocess.Popen(["zstd", "-q", "-2", "-T1", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **quiet)  # type: ignore[call-overload]
        digest = hashlib.sha256()
        writer = threading.Thread(target=_keep, args=(zstd.stdout, packed, digest))
        writer.start()
        try:
            total = 0
            while block := tar.stdout.read(_BLOCK):
                total += len(block)
                if total > max_bytes:
                    raise RequestError("too_large", f"It is larger than {round(max_bytes / 1024 / 1024)} MB.")
                zstd.stdin.write(block)
            zstd.stdin.close()
            for program in (tar, zstd):
                problem = program.stderr.read(2000).decode(errors="replace").strip()
                if program.wait() != 0:
                    raise RequestError("archive_failed", f"The layer can't be packed: {problem}")
        finally:
            for program in (tar, zstd):
                program.kill()
                program.wait()
            writer.join()
    size = os.stat(target).st_size
    return {"digest": digest.hexdigest(), "bytes": size}


def _keep(source: IO[bytes], target: IO[bytes], digest: hashlib._Hash) -> None:
    while block := source.read1(_BLOCK):  # type: ignore[attr-defined]
        digest.update(block)
        target.write(block)


def send(path: str, url: str, headers: Mapping[str, str]) -> dict[str, object]:
    """PUTs a file to a presigned address, again after a connection that broke or a failure of the service. Returns the
    status and the beginning of the answer.
    """
    size = os.stat(path).st_size
    if size > _MOST_AT_ONCE:
        limit = f"{_MOST_AT_ONCE // 1024**3} GB, the most that a bucket takes at once"
        raise RequestError("too_large", f"The packed layer has {size / 1024**3:.1f} GB, more than {limit}.")
    attempt = 1
    while True:
        try:
            answer = _put(path, size, url, headers)
            if attempt == _ATTEMPTS or answer["status"] not in (408, 429, 500, 502, 503, 504):
                return answer
        except (OSError, http.client.HTTPException) as error:
            if attempt == _ATTEMPTS:
                message = f"The artifact store can't be reached from the pod: {error}"
                raise RequestError("unavailable", message) from None
        time.sleep(attempt)
        attempt += 1


def _put(path: str, size: int, url: str, headers: Mapping[str, str]) -> dict[str, object]:
    address = urlsplit(url)
    host, port = address.hostname or "", address.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=300, context=ssl.create_default_context())
        if address.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=300)
    )
    try:
        with open(path, "rb") as body:
            target = f"{address.path}?{address.query}"
            connection.request("PUT", target, body, {**headers, "Content-Length": str(size)})
            answer = connection.getresponse()
            return {"status": answer.status, "text": answer.read(2000).decode(errors="replace")}
    finally:
        connection.close()
