"""Serves this exported server over streamable HTTP at /mcp: see README.md.

Towpath's harness (`towpath_runner`, beside this file) starts it as it did there, and checks no callers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile

RUNNER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(RUNNER)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python runner", description="Serves the exported server at /mcp.")
    parser.add_argument("--listen", default="127.0.0.1:8000", metavar="HOST:PORT", help="127.0.0.1:8000 unless given")
    listen = parser.parse_args().listen
    with open(os.path.join(ROOT, "towpath.json"), encoding="utf-8") as file:
        document = json.load(file)
    program = document["program"]
    status = os.path.join(tempfile.mkdtemp(prefix="towpath-export-"), "status.json")
    command = [
        sys.executable,
        "-m",
        "towpath_runner",
        "--open",
        f"--entrypoint={program['entrypoint']}",
        *(f"--argument={word}" for word in program["arguments"]),
        f"--listen={listen}",
        f"--status={status}",
    ]
    os.chdir(os.path.join(ROOT, "source"))
    os.execve(command[0], command, environment(document["variables"]))


def environment(variables: list[dict[str, object]]) -> dict[str, str]:
    """This process's, over the values of `variables.json`, if that is there."""
    stored: dict[str, str] = {}
    path = os.path.join(ROOT, "variables.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    for variable in variables:
        # Of previews only.
        if "production" not in variable["environments"]:  # type: ignore[operator]
            stored.pop(str(variable["keyName"]), None)
    # The harness and `sitecustomize`, for this process and those that it starts; the code's directory comes last.
    return {**stored, **os.environ, "PYTHONPATH": RUNNER, "PYTHONSAFEPATH": "1"}


if __name__ == "__main__":
    main()
