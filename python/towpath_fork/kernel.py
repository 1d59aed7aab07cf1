"""System calls of Linux that the standard library lacks in the oldest Python of servers (3.10).

All raise OSError.
"""

from __future__ import annotations

import ctypes
import os
import struct

NEW_MOUNTS = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_RECURSIVE = 16384
MS_PRIVATE = 1 << 18

CAP_SETGID = 6
CAP_SETUID = 7
CAP_SETPCAP = 8
CAP_SYS_CHROOT = 18
CAP_SYS_ADMIN = 21

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_CLOSE_ON_EXEC = os.O_CLOEXEC
#: The same numbers on all architectures: they are newer than the common table of calls.
_OPEN_TREE, _MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT, _MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_FROM_DESCRIPTOR = 4
_FSOPEN_CLOSE_ON_EXEC = 1
_FSCONFIG_CREATE = 6
_FSMOUNT_CLOSE_ON_EXEC = 1
_ATTR_READ_ONLY, _ATTR_NOSUID, _ATTR_NODEV, _ATTR_NOEXEC = 1, 2, 4, 8

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _call(number: int, what: str, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), what)


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def set_namespace(descriptor: int, kind: int) -> None:
    """Moves this process, or for NEW_PIDS its later children, to the namespace of an open /proc/PID/ns file."""
    _checked(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    _checked(
        _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()),
        f"mount at {target}",
    )


def detached_copy(path: str, writable: bool) -> int:
    """A descriptor of a mount of `path` that is in no tree yet, for `attach`, also by another process."""
    tree = _call(
        _OPEN_TREE, f"open_tree {path}", ctypes.c_int(_AT_FDCWD), path.encode(), ctypes.c_uint(_OPEN_TREE_CLONE | _CLOSE_ON_EXEC)
    )
    attributes = _ATTR_NOSUID | _ATTR_NODEV | (0 if writable else _ATTR_READ_ONLY)
    # struct mount_attr: set, clear, propagation, user namespace.
    changes = struct.pack("=QQQQ", attributes, 0, 0, 0)
    _call(
        _MOUNT_SETATTR, "mount_setattr", ctypes.c_int(tree), b"", ctypes.c_uint(_AT_EMPTY_PATH), changes,
        ctypes.c_size_t(len(changes)),
    )  # fmt: skip
    return tree


def detached_proc() -> int:
    """The same of a /proc of this process's process namespace."""
    context = _call(_FSOPEN, "fsopen proc", b"proc", ctypes.c_uint(_FSOPEN_CLOSE_ON_EXEC))
    try:
        _call(_FSCONFIG, "fsconfig proc", ctypes.c_int(context), ctypes.c_uint(_FSCONFIG_CREATE), None, None, ctypes.c_int(0))
        attributes = ctypes.c_uint(_ATTR_NOSUID | _ATTR_NODEV | _ATTR_NOEXEC)
        return _call(_FSMOUNT, "fsmount proc", ctypes.c_int(context), ctypes.c_uint(_FSMOUNT_CLOSE_ON_EXEC), attributes)
    finally:
        os.close(context)


def attach(detached: int, target: str) -> None:
    _call(
        _MOVE_MOUNT, f"move_mount to {target}", ctypes.c_int(detached), b"", ctypes.c_int(_AT_FDCWD), target.encode(),
        ctypes.c_uint(_MOVE_MOUNT_FROM_DESCRIPTOR),
    )  # fmt: skip


def limit_bounding_set(kept: set[int]) -> None:
    """What programs can get. Takes CAP_SETPCAP."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in set(range(last + 1)) - kept:
        _checked(_libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0), "prctl PR_CAPBSET_DROP")


def set_capabilities(kept: set[int]) -> None:
    """What this thread may do; nothing is inheritable."""
    bits = sum(1 << capability for capability in kept)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    # Twice effective, permitted, inheritable.
    _checked(_libc.capset(header, struct.pack("=6I", low, low, 0, high, high, 0)), "capset")


def become_user(uid: int) -> None:
    """For a user and group of the same number. A user other than 0 has no capability any more."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def allow_own_inspection() -> None:
    """After a change of user, which leaves the process's own files in /proc to root."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(1), 0, 0, 0), "prctl PR_SET_DUMPABLE")


def filter_calls(program: bytes) -> None:
    """Adds a filter of system calls (struct sock_filter[]), for good."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a count and a pointer.
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "prctl PR_SET_NO_NEW_PRIVS")
    _checked(_libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_FILTER), described, 0, 0), "prctl PR_SET_SECCOMP")
