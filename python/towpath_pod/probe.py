"""Reports, from inside a pod like a server's, which Pythons the image has and which protections are in force."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys

from towpath_pod.report import report

#: Written by about.py when the image was made.
_ABOUT = "/opt/towpath-build/about.json"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
_PR_GET_NO_NEW_PRIVS = 39


def probe() -> int:
    """Its message: {"pythons": ["3.11.7"], "checks": {NAME: DETAIL}}, where an empty detail is good."""
    report({"pythons": _pythons(), "checks": {name: check() for name, check in _CHECKS.items()}})
    return 0


def _pythons() -> list[str]:
    with open(_ABOUT, encoding="utf-8") as file:
        found: list[str] = json.load(file)["pythons"]
    return found


def _user() -> str:
    return "" if os.getuid() != 0 else "it runs as root"


def _status_field(name: str) -> str:
    with open("/proc/self/status", encoding="ascii") as file:
        return next((line.split()[1] for line in file if line.startswith(f"{name}:")), "")


def _capabilities() -> str:
    held = _status_field("CapBnd")
    return "" if int(held or "0", 16) == 0 else f"it may get the capabilities {held}"


def _privileges() -> str:
    # gVisor has it for every process, and doesn't say so in /proc.
    is_set = ctypes.CDLL(None).prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
    return "" if is_set else "programs may get more rights when they start"


def _system_calls() -> str:
    return "" if _status_field("Seccomp") == "2" else "system calls are not filtered"


def _root() -> str:
    try:
        with open("/usr/written", "w"):
            return "it can change its own image"
    except OSError as error:
        return "" if error.errno == errno.EROFS else f"its root is protected by modes only ({error.strerror})"


def _token() -> str:
    return "it has a token for the Kubernetes API" if os.path.exists(_TOKEN) else ""


_CHECKS = {
    "own user": _user,
    "capabilities": _capabilities,
    "privileges": _privileges,
    "system calls": _system_calls,
    "read-only root": _root,
    "no token": _token,
}

if __name__ == "__main__":
    sys.exit(probe())
