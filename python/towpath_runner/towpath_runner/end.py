"""Ends the process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from typing import NoReturn


def end_process(exit_status: int) -> NoReturn:
    """Waits for threads, runs exit handlers and flushes the output, as the interpreter does, but does not finalize it.

    Finalization aborts the process when a daemon thread is printing, or when an extension module frees what a thread
    still uses. A server that stopped normally would then look like one that crashed.
    """
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # what forked children of multiprocessing call
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
    finally:
        os._exit(exit_status)
