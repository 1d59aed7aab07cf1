"""Starts a fork of a waiting interpreter in namespaces of its own, as the host's root, and ends with its exit status.

In place of bubblewrap, with the same descriptors: 3 has the options (a JSON document up to a NUL), 4 gets one JSON
document per line (`child-pid`, the first process of the new namespaces, then `fork-pid`, the parent of the fork, both as
the host sees them), and 5 is read before the fork. It ends what it started by ending.

Options: `socket` of the interpreter (path), its `firstUid` on the host, how many `users` its user namespace has, the `uid`
of the fork there, `filter` (base64), `runtimeDirectory`, `workingDirectory`, `groups` (paths of cgroup.procs for the fork), `scratch` (directories
in memory: path and bytes), `directories` (path and mode), `files` (path and text), and `mounts` (`host`, `inside`,
`writable`). Scratch directories and mounts cover what the interpreter has there.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from towpath_fork import kernel

_OPTIONS, _STATUS, _BLOCK = 3, 4, 5
#: Those of a fork, in the order in which it enters them: the mounts last, so that the others are found before.
KINDS = (
    ("ipc", kernel.NEW_IPC),
    ("uts", kernel.NEW_UTS),
    ("net", kernel.NEW_NETWORK),
    ("pid", kernel.NEW_PIDS),
    ("mnt", kernel.NEW_MOUNTS),
)
_MAX_MESSAGE = 1 << 20
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def main() -> NoReturn:
    with open(_OPTIONS, encoding="utf-8") as file:
        options: dict[str, Any] = json.loads(file.read().rstrip("\0"))
    connection, parent = _connect(options)
    lifeline, theirs = socket.socketpair()
    _know_sender(lifeline)
    _start_first_process(parent, theirs, options)
    theirs.close()
    first = _sender(lifeline)
    _report("child-pid", first)
    _furnish(lifeline, first, options)
    os.read(_BLOCK, 1)
    status = _fork(connection, first, options)
    os.dup2(status.fileno(), 0)
    lifeline.set_inheritable(True)
    # Next to no memory, for as long as the fork runs. Its end closes the lifeline.
    os.execve("/bin/sh", ["sh", "-c", 'read status && exit "$status"; exit 137'], {})


def _connect(options: dict[str, Any]) -> tuple[socket.socket, int]:
    """The interpreter, and its process id. A tenant's process could have replaced its socket by a link."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(options["socket"])
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", found)
    if uid != options["firstUid"]:
        raise SystemExit("towpath_fork: another process listens in place of the interpreter")
    return connection, pid


def _start_first_process(parent: int, lifeline: socket.socket, options: dict[str, Any]) -> None:
    """The first process of a new process namespace within the interpreter's, in new namespaces of its users."""
    spaces = {name: os.open(f"/proc/{parent}/ns/{name}", os.O_RDONLY) for name in ("pid", "mnt", "user")}

    def in_users() -> None:
        kernel.set_namespace(spaces["mnt"], kernel.NEW_MOUNTS)
        kernel.set_namespace(spaces["user"], kernel.NEW_USER)
        kernel.become_user(0)
        kernel.unshare(sum(kind for _, kind in KINDS))
        _child(lambda: _first_process(lifeline, options))

    def in_processes() -> None:
        kernel.set_namespace(spaces["pid"], kernel.NEW_PIDS)
        _wait(_child(in_users))

    _wait(_child(in_processes))
    for descriptor in spaces.values():
        os.close(descriptor)


def _child(work: Any) -> int:
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException as error:
        os.write(2, f"towpath_fork: {error}\n".encode())
    finally:
        os._exit(1)


def _wait(pid: int) -> None:
    if os.waitpid(pid, 0)[1] != 0:
        os._exit(1)


def _first_process(lifeline: socket.socket, options: dict[str, Any]) -> None:
    """Makes what the fork sees; then holds the namespaces and reaps orphans, until the lifeline breaks."""
    kernel.mount("", "/", "", kernel.MS_RECURSIVE | kernel.MS_PRIVATE)
    _bring_up_loopback()
    lifeline.sendall(b"x")
    text, descriptors, _, _ = socket.recv_fds(lifeline, _MAX_MESSAGE, 64)
    targets: list[str] = json.loads(text)
    _write_files(options)
    nothing_special = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    for path, size in options["scratch"]:
        kernel.mount("tmpfs", path, "tmpfs", nothing_special, f"mode=1777,size={size}")
    os.umask(0)
    for path, mode in options["directories"]:
        os.mkdir(path, mode)
    for descriptor, target in zip(descriptors, targets, strict=True):
        kernel.attach(descriptor, target)
    lifeline.sendall(b"x")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    os.dup2(lifeline.fileno(), 0)
    os.closerange(3, _open_limit())
    # The last user of the namespace: no capability, and no fork has it.
    kernel.become_user(options["users"] - 1)
    # The kernel reaps the children of a process that ignores this.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.execve("/bin/cat", ["towpath-init"], {})


def _write_files(options: dict[str, Any]) -> None:
    """Replaces files by ones in memory, by way of a directory that a mount covers later."""
    if not options["files"]:
        return
    place = options["runtimeDirectory"]
    kernel.mount("tmpfs", place, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=64k")
    for number, (path, content) in enumerate(options["files"]):
        copy = f"{place}/{number}"
        with open(copy, "w", encoding="utf-8") as file:
            file.write(content)
        os.chmod(copy, 0o444)
        kernel.mount(copy, path, "", kernel.MS_BIND)


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack("16sh", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sh", b"lo", 0)))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP))


def _furnish(lifeline: socket.socket, first: int, options: dict[str, Any]) -> None:
    """Gives the first process the mounts that only the host's root can make."""
    with open(f"/proc/{first}/ns/pid", "rb") as space:
        kernel.set_namespace(space.fileno(), kernel.NEW_PIDS)

    def give() -> None:
        mounts = [(kernel.detached_copy(each["host"], each["writable"]), each["inside"]) for each in options["mounts"]]
        mounts.append((kernel.detached_proc(), "/proc"))
        _send(lifeline, [target for _, target in mounts], [descriptor for descriptor, _ in mounts])

    # A child, as a /proc is of the namespace of the process that makes it.
    _wait(_child(give))
    if not lifeline.recv(1):
        raise SystemExit(1)


def _fork(connection: socket.socket, first: int, options: dict[str, Any]) -> socket.socket:
    """The connection by which the fork's parent sends its exit status."""
    status, theirs = socket.socketpair()
    _know_sender(status)
    spaces = [os.open(f"/proc/{first}/ns/{name}", os.O_RDONLY) for name, _ in KINDS]
    request = {name: options[name] for name in ("uid", "users", "filter", "workingDirectory")}
    _send(connection, request, [*spaces, 0, 1, 2, theirs.fileno()])
    theirs.close()
    pid = _sender(status)
    # Before it has a child: from its first instruction on the fork has its limits.
    for path in options["groups"]:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(pid))
    _report("fork-pid", pid)
    status.sendall(b"x")
    return status


def _send(to: socket.socket, message: Any, descriptors: list[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    to.sendmsg([json.dumps(message).encode()], rights)


def _know_sender(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


def _sender(connection: socket.socket) -> int:
    """The process that has sent the next byte, as the host sees it."""
    size = struct.calcsize("3i")
    received, extra, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(size))
    if not received:
        raise SystemExit(1)
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return int(struct.unpack("3i", data[:size])[0])
    raise SystemExit("towpath_fork: a message without its sender")


def _report(name: str, pid: int) -> None:
    os.write(_STATUS, json.dumps({name: pid}).encode() + b"\n")


def _open_limit() -> int:
    return os.sysconf("SC_OPEN_MAX")


if __name__ == "__main__":
    main()
