"""Takes the network from a process and all that it starts.

A pod's containers share one network, and an unprivileged container can't make another one. But every process may give up
system calls: without sockets of the internet's families there is no network, not even a loopback. Other ways to a socket,
through processes that have one, are closed as well.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

#: By architecture: its identifier, then the numbers of socket, ptrace, process_vm_readv and process_vm_writev.
_ARCHITECTURES = {
    "x86_64": (0xC000003E, 41, (101, 310, 311)),
    "aarch64": (0xC00000B7, 198, (117, 270, 271)),
}
#: io_uring_setup, io_uring_enter, io_uring_register and pidfd_getfd have the same numbers everywhere.
_EVERYWHERE = (425, 426, 427, 438)
_AF_UNIX = 1
_X32 = 0x40000000

_LOAD, _EQUAL, _SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


def network_filter(machine: str) -> bytes | None:
    """The filter's program for an architecture; None if its numbers are unknown."""
    if machine not in _ARCHITECTURES:
        return None
    architecture, socket, others = _ARCHITECTURES[machine]
    refused = _ERRNO | errno.EPERM
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        program += [(_SET, 0, 1, _X32), (_RETURN, 0, 0, refused)]
    for call in (*others, *_EVERYWHERE):
        program += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, refused)]
    # The family is the first argument.
    program += [(_EQUAL, 0, 3, socket), (_LOAD, 0, 0, 16), (_EQUAL, 1, 0, _AF_UNIX)]
    program += [(_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def give_up_network() -> None:
    """For the rest of this process's life. Raises OSError if the kernel or the architecture can't."""
    program = network_filter(platform.machine())
    if program is None:
        raise OSError(errno.ENOTSUP, f"Steps without a network can't be had on {platform.machine()}.")
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(program)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    given = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "The network can't be given up.")
