"""What a waiting interpreter does: forks itself on request, each fork into namespaces that it gets (decision 086).

The requests come from the host's root (launch.py). The interpreter knows of no server and has one thread.
"""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import NamedTuple

from towpath_fork import kernel

#: The descriptors of a request: namespaces in this order, standard streams, and a connection for the exit status.
_KINDS = (kernel.NEW_IPC, kernel.NEW_UTS, kernel.NEW_NETWORK, kernel.NEW_PIDS, kernel.NEW_MOUNTS)
_DESCRIPTORS = len(_KINDS) + 4
_MAX_MESSAGE = 1 << 16
_OPEN_LIMIT = 4096
#: Descriptors of these have no position or other state that forks could share.
_WITHOUT_STATE = ("/dev/null", "/dev/urandom", "/dev/random")
#: Process id of the first fork in its namespace, after its first process and the one that made its /proc.
_FIRST_FORK = 3


class _Request(NamedTuple):
    uid: int
    #: How many its user namespace has.
    users: int
    call_filter: bytes
    directory: str


def unforkable() -> str | None:
    """Why forks of this process would not be like processes of their own; None if they would."""
    if len(os.listdir("/proc/self/task")) > 1:
        return "an import has started threads"
    with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
        if file.read().strip():
            return "an import has started processes"
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        if any(permissions[1] == "w" and permissions[3] == "s" for permissions in (line.split()[1] for line in file)):
            return "an import has mapped memory that forks would share"
    for name in os.listdir("/proc/self/fd"):
        # The descriptor of the listing is closed by now.
        with contextlib.suppress(FileNotFoundError):
            if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}") not in _WITHOUT_STATE:
                return "an import has left files or connections open"
    return None


def serve_forks(path: str, ready: Callable[[], None]) -> int:
    """Calls `ready` once it listens at `path`. Returns in forks only: the descriptor of a fork's input."""
    # The kernel reaps the parents of forks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    ready()
    while True:
        connection, _ = listener.accept()
        text, descriptors, _, _ = socket.recv_fds(connection, _MAX_MESSAGE, _DESCRIPTORS)
        connection.close()
        number = os.getpid()
        if len(descriptors) == _DESCRIPTORS and os.fork() == 0:
            listener.detach()
            claims = _in_namespaces(text.decode(), descriptors, number)
            _reseed()
            return claims
        for descriptor in descriptors:
            os.close(descriptor)


def _in_namespaces(text: str, descriptors: list[int], number: int) -> int:
    """Returns in the fork; its parent ends here, with it."""
    streams, status = descriptors[len(_KINDS) : -1], descriptors[-1]
    try:
        uid, users, call_filter, directory = text.split("\0")
        request = _Request(int(uid), int(users), base64.b64decode(call_filter), directory)
        os.write(status, b"x")
        # Who has sent this byte is put into its control groups before the answer comes.
        if not os.read(status, 1):
            os._exit(1)
        for descriptor, kind in zip(descriptors[: len(_KINDS)], _KINDS, strict=True):
            kernel.set_namespace(descriptor, kind)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if number == _FIRST_FORK:
            # Libraries such as OpenSSL recognize a fork by another process id than before.
            _wait_for(_exiting())
        pid = os.fork()
        if pid == 0:
            if os.getpid() == number:
                raise RuntimeError("the fork has the process id of its parent")
            return _become(request, streams)
        _stand_by(pid, status, request)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(streams[2], f"towpath_fork: {error}\n".encode())
    os._exit(1)


def _exiting() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid


def _wait_for(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _stand_by(pid: int, status: int, request: _Request) -> None:
    """Sends the exit status of the fork. Keeps nothing that could do more."""
    os.closerange(0, status)
    os.closerange(status + 1, _OPEN_LIMIT)
    kernel.limit_bounding_set(set())
    kernel.become_user(request.users - 1)
    ended = _wait_for(pid)
    os.write(status, f"{ended if ended >= 0 else 128 - ended}\n".encode())
    os._exit(0)


def _become(request: _Request, streams: list[int]) -> int:
    """Gives up everything that an ordinary start in a sandbox would not have. Returns the descriptor of the input."""
    os.setsid()
    claims = streams[0]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(streams[1], 1)
    os.dup2(streams[2], 2)
    os.closerange(3, claims)
    os.closerange(claims + 1, _OPEN_LIMIT)
    os.chdir(request.directory)
    kernel.limit_bounding_set(set())
    kernel.become_user(request.uid)
    kernel.allow_own_inspection()
    kernel.filter_calls(request.call_filter)
    return claims


def _reseed() -> None:
    """Generators of random numbers that would continue alike in all forks. `random` does this by itself."""
    ssl = sys.modules.get("_ssl")
    if ssl is not None:
        ssl.RAND_add(os.urandom(32), 32.0)
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()
