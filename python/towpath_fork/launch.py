"""Starts a fork of a waiting interpreter in namespaces of its own, as the host's root, and ends with its exit status.

In place of bubblewrap, with the same descriptors: 3 has the options, 4 gets one JSON document per line (`child-pid`, the
first process of the new namespaces, then `fork-pid`, the parent of the fork, both as the host sees them), and 5 is read
before the fork. It ends what it started by ending.

Options are words, each ended by a NUL: a name of `_OPTIONS` and its values. It runs for each start of a server, so it
imports nothing that takes long, such as json, socket and signal.
"""

from __future__ import annotations

import _signal
import _socket
import array
import fcntl
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from towpath_fork import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS_FILE, _STATUS, _BLOCK = 3, 4, 5
#: How many values each has.
_OPTIONS = {
    #: Of the interpreter: path.
    "socket": 1,
    #: Of the interpreter's user namespace: the first user on the host, and how many there are.
    "users": 2,
    #: Of the fork, there.
    "uid": 1,
    #: Of the fork: base64.
    "filter": 1,
    "directory": 1,
    #: A directory that a mount covers later.
    "place": 1,
    #: A file that adds a process to one of the fork's control groups.
    "group": 1,
    #: A directory in memory: path and bytes.
    "scratch": 2,
    #: One that everybody may write to.
    "open": 1,
    #: A file that replaces one of the interpreter's: path and text.
    "file": 2,
    #: Paths on the host and inside, `rw` or `ro`.
    "mount": 3,
}
#: Those of a fork, in the order in which it enters them: the mounts last, so that the others are found before.
KINDS = (
    ("ipc", kernel.NEW_IPC),
    ("uts", kernel.NEW_UTS),
    ("net", kernel.NEW_NETWORK),
    ("pid", kernel.NEW_PIDS),
    ("mnt", kernel.NEW_MOUNTS),
)
_MAX_MESSAGE = 1 << 16
_MAX_DESCRIPTORS = 64
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_Options = "dict[str, list[list[str]]]"


def main() -> None:
    options = _read_options()
    connection, parent = _connect(options)
    lifeline, theirs = _socket.socketpair()
    _know_sender(lifeline)
    _start_first_process(parent, theirs, options)
    theirs.close()
    first = _sender(lifeline)
    _report("child-pid", first)
    _furnish(lifeline, first, options)
    os.read(_BLOCK, 1)
    status = _fork(connection, first, options)
    os.dup2(status.fileno(), 0)
    os.set_inheritable(lifeline.fileno(), True)
    # Next to no memory, for as long as the fork runs. Its end closes the lifeline.
    os.execve("/bin/sh", ["sh", "-c", 'read status && exit "$status"; exit 137'], {})


def _read_options() -> _Options:
    with open(_OPTIONS_FILE, encoding="utf-8") as file:
        words = file.read().split("\0")[:-1]
    options: _Options = {name: [] for name in _OPTIONS}
    at = 0
    while at < len(words):
        end = at + 1 + _OPTIONS[words[at]]
        options[words[at]].append(words[at + 1 : end])
        at = end
    return options


def _connect(options: _Options) -> tuple[_socket.socket, int]:
    """The interpreter, and its process id. A tenant's process could have replaced its socket by a link."""
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(options["socket"][0][0])
    found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", found)
    if uid != int(options["users"][0][0]):
        raise SystemExit("towpath_fork: another process listens in place of the interpreter")
    return connection, pid


def _start_first_process(parent: int, lifeline: _socket.socket, options: _Options) -> None:
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


def _child(work: Callable[[], None]) -> int:
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


def _first_process(lifeline: _socket.socket, options: _Options) -> None:
    """Makes what the fork sees; then holds the namespaces and reaps orphans, until the lifeline breaks."""
    kernel.mount("", "/", "", kernel.MS_RECURSIVE | kernel.MS_PRIVATE)
    _bring_up_loopback()
    lifeline.sendall(b"x")
    targets, descriptors = _received(lifeline)
    _write_files(options)
    nothing_special = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    for path, size in options["scratch"]:
        kernel.mount("tmpfs", path, "tmpfs", nothing_special, f"mode=1777,size={size}")
    os.umask(0)
    for (path,) in options["open"]:
        os.mkdir(path, 0o777)
    for descriptor, target in zip(descriptors, targets, strict=True):
        kernel.attach(descriptor, target)
    lifeline.sendall(b"x")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    os.dup2(lifeline.fileno(), 0)
    os.closerange(3, _open_limit())
    # The last user of the namespace: no capability, and no fork has it.
    kernel.become_user(int(options["users"][0][1]) - 1)
    # The kernel reaps the children of a process that ignores this.
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    os.execve("/bin/cat", ["towpath-init"], {})


def _write_files(options: _Options) -> None:
    """Replaces files by ones in memory, by way of a directory that a mount covers later."""
    place = options["place"][0][0]
    kernel.mount("tmpfs", place, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=64k")
    for number, (path, content) in enumerate(options["file"]):
        copy = f"{place}/{number}"
        with open(copy, "w", encoding="utf-8") as file:
            file.write(content)
        os.chmod(copy, 0o444)
        kernel.mount(copy, path, "", kernel.MS_BIND)


def _bring_up_loopback() -> None:
    control = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    flags = struct.unpack("16sh", fcntl.ioctl(control.fileno(), _SIOCGIFFLAGS, struct.pack("16sh", b"lo", 0)))[1]
    fcntl.ioctl(control.fileno(), _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP))
    control.close()


def _furnish(lifeline: _socket.socket, first: int, options: _Options) -> None:
    """Gives the first process the mounts that only the host's root can make."""
    with open(f"/proc/{first}/ns/pid", "rb") as space:
        kernel.set_namespace(space.fileno(), kernel.NEW_PIDS)

    def give() -> None:
        mounts = [(kernel.detached_copy(host, mode == "rw"), inside) for host, inside, mode in options["mount"]]
        mounts.append((kernel.detached_proc(), "/proc"))
        _send(lifeline, [target for _, target in mounts], [descriptor for descriptor, _ in mounts])

    # A child, as a /proc is of the namespace of the process that makes it.
    _wait(_child(give))
    if not lifeline.recv(1):
        raise SystemExit(1)


def _fork(connection: _socket.socket, first: int, options: _Options) -> _socket.socket:
    """The connection by which the fork's parent sends its exit status."""
    status, theirs = _socket.socketpair()
    _know_sender(status)
    spaces = [os.open(f"/proc/{first}/ns/{name}", os.O_RDONLY) for name, _ in KINDS]
    request = [options["uid"][0][0], options["users"][0][1], options["filter"][0][0], options["directory"][0][0]]
    _send(connection, request, [*spaces, 0, 1, 2, theirs.fileno()])
    theirs.close()
    pid = _sender(status)
    # Before it has a child: from its first instruction on the fork has its limits.
    for (path,) in options["group"]:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(pid))
    _report("fork-pid", pid)
    status.sendall(b"x")
    return status


def _send(to: _socket.socket, words: list[str], descriptors: list[int]) -> None:
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", descriptors))]
    to.sendmsg(["\0".join(words).encode()], rights)


def _received(connection: _socket.socket) -> tuple[list[str], list[int]]:
    """What `_send` has sent."""
    descriptors = array.array("i")
    size = _socket.CMSG_SPACE(_MAX_DESCRIPTORS * descriptors.itemsize)
    text, extra, _, _ = connection.recvmsg(_MAX_MESSAGE, size)
    for level, kind, data in extra:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            descriptors.frombytes(data)
    return text.decode().split("\0"), list(descriptors)


def _know_sender(connection: _socket.socket) -> None:
    connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)


def _sender(connection: _socket.socket) -> int:
    """The process that has sent the next byte, as the host sees it."""
    size = struct.calcsize("3i")
    received, extra, _, _ = connection.recvmsg(1, _socket.CMSG_SPACE(size))
    if not received:
        raise SystemExit(1)
    for level, kind, data in extra:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_CREDENTIALS):
            return int(struct.unpack("3i", data[:size])[0])
    raise SystemExit("towpath_fork: a message without its sender")


def _report(name: str, pid: int) -> None:
    os.write(_STATUS, b'{"%s": %d}\n' % (name.encode(), pid))


def _open_limit() -> int:
    return os.sysconf("SC_OPEN_MAX")


if __name__ == "__main__":
    main()
