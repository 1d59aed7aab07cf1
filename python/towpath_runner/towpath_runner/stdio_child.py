"""Runs a program unchanged, on its own standard input and output: the bridge's process for each session.

Started as `python -m towpath_runner.stdio_child ENTRYPOINT [ARGUMENT …]`.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys

from towpath_runner.entrypoint import Entrypoint, parse_entrypoint


def _run(entrypoint: Entrypoint) -> object:
    if entrypoint.program is not None:
        from towpath_runner.program import load_program

        _, start = load_program(entrypoint)
        return start()  # type: ignore[operator]
    sys.path[:0] = [os.path.dirname(entrypoint.path), entrypoint.root]
    return runpy.run_path(entrypoint.path, run_name="__main__")


if __name__ == "__main__":
    # When memory runs out, one session ends, instead of the bridge with all of them.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")
    text, *arguments = sys.argv[1:]
    os.environ.pop("PYTHONSAFEPATH", None)
    found = parse_entrypoint(text, os.getcwd())
    sys.argv[:] = [found.path if found.program is None else found.program, *arguments]
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Last on the path, and not where `-m` put the working directory, as in prepare_process.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) not in (here, os.getcwd())] + [here]
    made = _run(found)
    sys.exit(made if isinstance(made, int) else 0)
