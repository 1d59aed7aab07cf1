"""Runs a program as the root of a user namespace of its own, where it may enter namespaces of that one and nothing else.

Arguments: the first user id of the host for that namespace, how many there are, the filter of system calls for the
program (base64), and the program. It starts as the host's root within a sandbox, with CAP_SETUID, CAP_SETGID and
CAP_SETPCAP. Nothing of a tenant runs before the program does.
"""

from __future__ import annotations

import base64
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from towpath_fork import kernel

#: `set_namespace` takes the first two, a change of user the others. Valid in the user namespace only.
_KEPT = {kernel.CAP_SYS_ADMIN, kernel.CAP_SYS_CHROOT, kernel.CAP_SETUID, kernel.CAP_SETGID, kernel.CAP_SETPCAP}


def _map_users(pid: int, first: int, count: int) -> None:
    for name in ("gid_map", "uid_map"):
        with open(f"/proc/{pid}/{name}", "w", encoding="ascii") as file:
            file.write(f"0 {first} {count}")


def _enter(first: int, count: int) -> None:
    """A process that stays outside maps the users."""
    entered, outside = os.pipe()
    pid = os.getpid()
    helper = os.fork()
    if helper == 0:
        status = 1
        try:
            os.close(outside)
            if os.read(entered, 1):
                _map_users(pid, first, count)
                status = 0
        finally:
            os._exit(status)
    os.close(entered)
    kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNTS)
    os.write(outside, b"x")
    os.close(outside)
    if os.waitpid(helper, 0)[1] != 0:
        raise SystemExit("towpath_fork: the users of the namespace could not be mapped")
    kernel.become_user(0)


def main(first: str, count: str, call_filter: str, *program: str) -> None:
    _enter(int(first), int(count))
    kernel.limit_bounding_set(_KEPT)
    kernel.set_capabilities(_KEPT)
    kernel.filter_calls(base64.b64decode(call_filter))
    # This interpreter may have set it, for itself.
    os.environ.pop("LC_CTYPE", None)
    os.execvpe(program[0], program, os.environ)


if __name__ == "__main__":
    main(*sys.argv[1:])
