"""Handles code of the server that ends the process by `os._exit` before anything is served.

It raises no exception, and any thread may do it, for example one that waits for the end of standard input. If a program
exits like this without an error, it is started again, in place of this process, and then bridged.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from towpath_runner.diagnose import diagnose, ended
from towpath_runner.entrypoint import Entrypoint
from towpath_runner.secret import pass_on
from towpath_runner.status import Failure

#: The harness's own option: the failure to report if the program can't be bridged.
OPTION = "--exited"
START_OPTION = "--start-seconds"


class EarlyExit:
    """Replaces `os._exit` inside its `with` block, or until `stop`. `on_exit` gets the exit status before it ends the
    process, and returns the one to end with.
    """

    def __init__(self, on_exit: Callable[[int], int]) -> None:
        self._on_exit = on_exit
        self._first = threading.Lock()
        self._process = os.getpid()
        self._is_on = False

    def __enter__(self) -> EarlyExit:
        self._original: Any = os._exit
        self._is_on = True
        os._exit = self._exit  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._is_on = False
        if os._exit == self._exit:
            os._exit = self._original

    def _exit(self, status: int) -> NoReturn:
        # Forked children exit like this too.
        if self._is_on and os.getpid() == self._process and self._first.acquire(blocking=False):
            try:
                status = self._on_exit(status)
            finally:
                self._original(status)
        self._original(status)
        raise AssertionError("os._exit doesn't return")


def failure_of(status: int, entrypoint: Entrypoint, is_served: bool) -> Failure | None:
    """The failure of the exit; None if its status and the output explain it better. `is_served`: a call that starts a
    server was captured, and didn't get ready.
    """
    if status == 0 and not is_served:
        return ended(entrypoint, entrypoint.shown)
    try:
        raise SystemExit(status)
    except SystemExit as error:
        failure = diagnose(error, entrypoint, "lifespan_failed")
        return None if failure.code == "exited_early" else failure


class Restart:
    """Restarts this process as it was before the server's code could change anything."""

    def __init__(self, arguments: Sequence[str], secret: str | None, deadline: float) -> None:
        self._arguments = list(arguments)
        self._secret = secret
        self._deadline = deadline
        self._environment = os.environ | {"PYTHONSAFEPATH": "1"}
        self._directory = os.getcwd()

    def bridged(self, failure: Failure) -> NoReturn:
        """Replaces this process, whose other threads end with it."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.chdir(self._directory)
        python = sys.orig_argv[0]
        document = json.dumps(asdict(failure))
        left = f"{START_OPTION}={max(0.0, self._deadline - time.monotonic()):.1f}"
        command = [python, "-m", "towpath_runner", *self._arguments, left, f"{OPTION}={document}"]
        if self._secret is not None:
            pass_on(self._secret)
        os.execvpe(python, command, self._environment)


def parse_failure(document: str) -> Failure:
    return Failure(**json.loads(document))
