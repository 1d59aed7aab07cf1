"""GW-11, RUN-1: a neighbor that can reach a server gets nothing, on a unix socket as on a port."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from client import SECRET
from conftest import Start
from environments import HARNESS, python_of
from harness import STATUS_PATH

Connect = Callable[[], http.client.HTTPConnection]

INSPECT_PATH = "/-/towpath/inspect"

#: Answers with what has reached it, and with all that shows a process what it was started with.
APP = """
    import os, pathlib, sys

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            while (event := await receive())["type"] != "lifespan.shutdown":
                await send({"type": event["type"] + ".complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        files = [pathlib.Path("/proc/self", name).read_bytes() for name in ("environ", "cmdline")]
        start = (files, dict(os.environ), sys.argv, sys.orig_argv, sys.stdin.buffer.read())
        body = repr((scope["client"], scope["scheme"], scope["headers"], start)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"reached")]})
        await send({"type": "http.response.body", "body": body})
"""

#: What the gateway says of a caller and of a session.
CLAIMS = {
    "towpath-actor": "user:someone",
    "towpath-actor-role": "owner",
    "towpath-request-id": "0199a000-0000-7000-8000-000000000001",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-proto": "https",
}
OPENED_ASLEEP = {"towpath-initialize": "e30", "mcp-session-id": "some"}
UPGRADE = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "eA=="}

PATHS = ("/", "/mcp", "/mcp/", INSPECT_PATH, STATUS_PATH, "/.well-known/oauth-protected-resource", "//", "*")
WRONG = ({}, {"towpath-secret": ""}, {"towpath-secret": SECRET[:-1]}, {"towpath-secret": f"{SECRET}x"})


def _ask(connect: Connect, method: str, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    connection = connect()
    # Past the tests' own connection, which adds the secret.
    http.client.HTTPConnection.request(connection, method, path, headers=headers)
    return connection.getresponse()


@pytest.fixture(params=["socket", "port"])
def connect(request: pytest.FixtureRequest, start: Start) -> Connect:
    """Connects to a server that listens so."""
    arguments = [f"--inspect-path={INSPECT_PATH}"]
    if request.param == "socket":
        harness = start(APP, "server.py:app", environment="mcp1", arguments=arguments)
    else:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        arguments.append(f"--listen=127.0.0.1:{port}")
        harness = start(APP, "server.py:app", environment="mcp1", arguments=arguments)
        harness.connect = lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    harness.ready()
    assert harness.socket.exists() == (request.param == "socket")
    return harness.connect


def test_GW_11_RUN_1_a_neighbor_gets_401_on_every_path_and_nothing_that_it_claims_is_believed(connect: Connect) -> None:
    for wrong in WRONG:
        for path in PATHS:
            for method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD"):
                answer = _ask(connect, method, path, CLAIMS | OPENED_ASLEEP | wrong)
                assert (answer.status, answer.headers.get("x-app")) == (401, None), (method, path, wrong)
        assert _ask(connect, "GET", STATUS_PATH, wrong).status == 401
        assert _ask(connect, "GET", "/", UPGRADE | wrong).status == 401
    two = connect()
    two.putrequest("GET", "/")
    for value in (SECRET, "other"):
        two.putheader("towpath-secret", value)
    two.endheaders()
    assert two.getresponse().status == 401


def test_GW_11_who_has_the_secret_is_believed_and_the_servers_code_does_not_see_it(connect: Connect) -> None:
    answer = _ask(connect, "GET", "/", CLAIMS | {"towpath-secret": SECRET})
    assert (answer.status, answer.headers["x-app"]) == (200, "reached")
    body = answer.read().decode()
    assert "(('203.0.113.9', 0), 'https', " in body
    assert "(b'towpath-actor', b'user:someone')" in body
    assert SECRET not in body


#: Answers 401 with the header of the harness, and at /own with its own.
IMITATOR = """
    async def app(scope, receive, send):
        headers = [(b"WWW-Authenticate", b"Towpath"), (b"x-app", b"reached")]
        if scope["path"] == "/own":
            headers = [(b"www-authenticate", b'Bearer realm="Towpath"'), (b"x-app", b"reached")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
"""


def test_GW_13_a_server_cannot_answer_with_the_harness_own_refusal_after_which_calls_are_sent_again(
    start: Start,
) -> None:
    harness = start(IMITATOR, "server.py:app", environment="mcp1", arguments=[])
    harness.ready()
    for path, challenge in (("/", None), ("/own", 'Bearer realm="Towpath"')):
        answer = _ask(harness.connect, "GET", path, {"towpath-secret": SECRET})
        assert (answer.status, answer.headers["x-app"]) == (401, "reached")
        assert answer.headers["www-authenticate"] == challenge
    assert _ask(harness.connect, "GET", "/", {}).headers["www-authenticate"] == "Towpath"


def test_BLD_5_callers_of_the_gateway_do_not_get_the_status(connect: Connect) -> None:
    for claims, reached in (({}, None), (CLAIMS, "reached")):
        answer = _ask(connect, "GET", STATUS_PATH, claims | {"towpath-secret": SECRET})
        assert (answer.status, answer.headers.get("x-app")) == (200, reached)


def test_BLD_2_without_a_secret_nothing_starts(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("open('started', 'w')")
    arguments = ["--entrypoint=server.py", f"--listen={tmp_path}/mcp.sock", f"--status={tmp_path}/status.json"]
    run = subprocess.run(
        [str(python_of("mcp1")), "-m", "towpath_runner", *arguments],
        cwd=tmp_path, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS)}, stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=40, text=True,
    )  # fmt: skip
    assert run.returncode == 1
    assert "the secret of the instance must come on standard input" in run.stderr
    assert not (tmp_path / "started").exists()
