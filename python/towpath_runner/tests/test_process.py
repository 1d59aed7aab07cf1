"""The process around the server: socket, status, output, signals."""

from __future__ import annotations

import socket
import stat
import subprocess
import textwrap
import time
from pathlib import Path

import pytest
from client import Client
from conftest import Start
from environments import HARNESS, python_of

SERVER = "from fastmcp import FastMCP\nmcp = FastMCP('demo')\n"
#: Where the framework doesn't matter: it imports in half the time.
SDK_SERVER = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('demo')\n"


@pytest.mark.parametrize("environment", ["fastmcp2", "fastmcp3", "fastmcp4"])
def test_BLD_5_ends_soon_after_sigterm_with_an_open_stream(start: Start, environment: str) -> None:
    harness = start(SERVER, environment=environment)
    harness.ready()
    client = Client(harness.socket)
    client.initialize()
    stream = client.open_stream()
    exit_status, seconds = harness.stop()
    assert exit_status == 0
    assert seconds < 5
    assert not harness.socket.exists()
    stream.close()


def test_BLD_5_ends_after_sigterm_with_a_stuck_thread(start: Start) -> None:
    source = SDK_SERVER + "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    harness = start(source, environment="mcp1")
    harness.ready()
    _, seconds = harness.stop()
    assert seconds < 8.5


def test_BLD_5_sigterm_runs_exit_handlers(start: Start) -> None:
    harness = start(SDK_SERVER + "import atexit\natexit.register(print, 'handler ran')\n", environment="mcp1")
    harness.ready()
    assert harness.stop()[0] == 0
    assert "handler ran" in harness.output()


def test_BLD_5_a_daemon_thread_that_prints_does_not_abort_the_stop(start: Start) -> None:
    """The interpreter aborts (SIGABRT) when it is finalized while a daemon thread holds the lock of stdout."""
    source = """
        import sys, threading

        def chatter():
            while True:
                sys.stdout.buffer.write(b"x" * 2000)
                sys.stdout.buffer.flush()

        for _ in range(4):
            threading.Thread(target=chatter, daemon=True).start()
        """
    harness = start(SDK_SERVER + textwrap.dedent(source), environment="mcp1")
    harness.ready()
    assert harness.stop()[0] == 0


def test_BLD_5_ready_means_that_the_socket_answers(start: Start) -> None:
    """The first connection after the status must succeed, without a retry."""
    harness = start(SDK_SERVER, environment="mcp1")
    harness.ready()
    Client(harness.socket).initialize()
    assert stat.S_IMODE(harness.socket.stat().st_mode) == 0o660


def test_BLD_5_stale_socket_and_status_are_replaced(start: Start) -> None:
    first = start(SDK_SERVER, environment="mcp1")
    first.ready()
    first.end()
    assert first.socket.exists(), "a killed process leaves it"
    first.status_file.write_text('{"state": "failed"}')
    # The sleep makes the removal of the stale status visible before the new one is written.
    second = start(SDK_SERVER + "import time; time.sleep(1)", environment="mcp1", directory=first.directory)
    deadline = time.monotonic() + 20
    while first.status_file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    second.ready()
    Client(second.socket).initialize()


def test_BLD_5_output_of_the_server_is_unchanged_and_unbuffered(start: Start) -> None:
    source = SERVER + "import sys\nprint('to stdout')\nprint('to stderr', file=sys.stderr)\n"
    harness = start(source)
    harness.ready()
    lines = harness.output().splitlines()
    assert "to stdout" in lines and "to stderr" in lines
    assert not any("Uvicorn running" in line or "FastMCP 4" in line for line in lines)


def test_BLD_5_error_in_the_app_is_logged(start: Start) -> None:
    source = "async def app(scope, receive, send):\n    raise RuntimeError('boom in ' + scope['type'])\n"
    harness = start(source, environment="mcp1")
    harness.ready()
    assert Client(harness.socket).get("/")[0] == 500
    assert "RuntimeError: boom in http" in harness.output()


def test_BLD_5_session_idle_time_is_the_authors_or_half_an_hour(start: Start) -> None:
    source = SERVER + "import os\nprint('idle', os.environ['FASTMCP_HTTP_SESSION_IDLE_TIMEOUT'])\n"
    source += "import fastmcp\nprint('setting', fastmcp.settings.http_session_idle_timeout)\n"
    harness = start(source)
    harness.ready()
    assert "setting 1800" in harness.output()
    harness = start(source, FASTMCP_HTTP_SESSION_IDLE_TIMEOUT="60")
    harness.ready()
    assert "idle 60" in harness.output()


def test_BLD_2_socket_path_that_is_too_long_is_reported(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    # Ready as soon as it is loaded: no framework is imported.
    (repository / "server.py").write_text("async def app(scope, receive, send):\n    pass\n")
    status = tmp_path / "status.json"
    arguments = ["--entrypoint", "server.py", "--listen", "/tmp/" + "x" * 120, "--status", str(status)]
    run = subprocess.run(
        [str(python_of("mcp1")), "-m", "towpath_runner", *arguments],
        cwd=repository, env={"PYTHONPATH": str(HARNESS)}, input="x", capture_output=True, check=False, timeout=40, text=True,
    )  # fmt: skip
    assert run.returncode == 1
    assert "socket could not be opened" in status.read_text()


def test_the_client_of_these_tests_fails_when_nothing_listens(tmp_path: Path) -> None:
    with pytest.raises((FileNotFoundError, socket.error)):
        Client(tmp_path / "none.sock").initialize()
