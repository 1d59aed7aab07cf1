"""Becomes a step: sets limits, gives up the network and executes the command. Its argument is JSON."""

from __future__ import annotations

import json
import os
import resource
import sys

from .no_network import give_up_network


def main(argument: str) -> None:
    step = json.loads(argument)
    for limit, value in ((resource.RLIMIT_NPROC, step["processes"]), (resource.RLIMIT_FSIZE, step["fileBytes"])):
        if value is not None:
            resource.setrlimit(limit, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if step["network"] == "none":
        give_up_network()
    # As a shell reports them, in its output.
    try:
        os.chdir(step["directory"])
        os.execve(step["argv"][0], step["argv"], step["environment"])
    except OSError as error:
        print(f"{step['argv'][0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1])
