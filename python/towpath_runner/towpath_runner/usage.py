"""Parses the commands of a program from its help output."""

from __future__ import annotations

import re

#: The list of click and typer, the latter in a box; up to an empty line or the end of the box.
_HEADING = re.compile(r"^\W*Commands\W*$", re.IGNORECASE)
_COMMAND = re.compile(r"^[ │|]+([A-Za-z][\w-]{0,40})(?: {2,}.*| *[│|]?)$")
#: The list of argparse, in a usage that may be wrapped; the choices of an option have no dots after them.
_CHOICES = re.compile(r"usage:.{0,2000}?[ \n]\{([\w,-]{1,2000})\} \.\.\.", re.DOTALL | re.IGNORECASE)

_MAX_COMMANDS = 20


def commands_in(text: str) -> list[str]:
    """In the order in which they are listed; empty if the help has no such list."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not _HEADING.match(line):
            continue
        found: list[str] = []
        indent = None
        for following in lines[at + 1 :]:
            if not following.strip(" │|"):
                break
            match = _COMMAND.match(following)
            # Deeper lines continue the line above.
            if match is not None and match.start(1) <= (indent or match.start(1)):
                indent = match.start(1)
                found.append(match.group(1))
        return found[:_MAX_COMMANDS]
    choices = _CHOICES.search(text)
    return choices.group(1).split(",")[:_MAX_COMMANDS] if choices else []
