"""What a container reports when it ends: its termination message, which Kubernetes keeps with the pod."""

from __future__ import annotations

import json
import os

#: Kubernetes cuts longer ones, which would no longer be JSON.
MAX_BYTES = 4096

_PATH = os.environ.get("TOWPATH_TERMINATION_LOG", "/dev/termination-log")


def report(message: dict[str, object]) -> None:
    """Replaces an earlier one. Cuts the longest texts of a message that is too long."""
    document = json.dumps(message)
    while len(document) > MAX_BYTES:
        message = _shorter(message)
        document = json.dumps(message)
    with open(_PATH, "w", encoding="ascii") as file:
        file.write(document)


def _shorter(message: dict[str, object]) -> dict[str, object]:
    """Without the first half of its longest text: a traceback and a stack have what matters at their end."""
    place, name = message, ""
    longest = -1
    pending = [message]
    while pending:
        each = pending.pop()
        for key, value in each.items():
            if isinstance(value, dict):
                pending.append(value)
            elif len(json.dumps(value)) > longest and isinstance(value, (str, list)):
                longest, place, name = len(json.dumps(value)), each, key
    value = place[name]
    assert isinstance(value, (str, list))
    place[name] = value[(len(value) + 1) // 2 :]
    return message
