"""OPS-8: an exported server runs outside of the platform, without a secret."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import HARNESS, python_of

EXPORT = HARNESS.parent / "export"

#: Answers with the headers that have reached it, a variable, and an argument.
APP = """
import os, sys
import shared_by_the_build

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (event := await receive())["type"] != "lifespan.shutdown":
            await send({"type": event["type"] + ".complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    names = sorted(name.decode() for name, _ in scope["headers"])
    body = repr((names, os.environ.get("UNITS"), os.environ.get("ONLY_PREVIEW"), shared_by_the_build.__name__)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
"""

#: Speaks the protocol by hand, on standard input and output only.
BY_HAND = """
import json, sys
import shared_by_the_build

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": sys.argv[1], "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Exported:
    """The directory of an export, and its server."""

    def __init__(self, directory: Path, code: str, arguments: list[str]) -> None:
        self.directory = directory
        for name in ("source", "installed", "runner"):
            (directory / name).mkdir()
        (directory / "source" / "server.py").write_text(code)
        (directory / "installed" / "shared_by_the_build.py").touch()
        for file in EXPORT.glob("*.py"):
            shutil.copy(file, directory / "runner")
        shutil.copytree(HARNESS / "towpath_runner", directory / "runner" / "towpath_runner")
        variables = [
            {"keyName": "UNITS", "environments": ["production", "preview"]},
            {"keyName": "ONLY_PREVIEW", "environments": ["preview"]},
        ]
        document = {"program": {"entrypoint": "server.py", "arguments": arguments}, "variables": variables}
        (directory / "towpath.json").write_text(json.dumps(document))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]

    def start(self, host: str = "127.0.0.1") -> None:
        command = [str(python_of("mcp1")), "runner", "--listen", f"{host}:{self.port}"]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.directory)}
        with open(self.directory / "output.txt", "w") as output:
            self.process = subprocess.Popen(command, cwd=self.directory, env=env, stdout=output, stderr=output)
        deadline = time.monotonic() + 40
        while "Serving MCP at" not in self.output():
            assert self.process.poll() is None and time.monotonic() < deadline, self.output()
            time.sleep(0.05)

    def output(self) -> str:
        return (self.directory / "output.txt").read_text()

    def ask(self, method: str = "GET", body: str | None = None, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, "/mcp", body, named)
        response = connection.getresponse()
        return response.status, response.read().decode()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path


@pytest.fixture
def app(directory: Path) -> Iterator[Exported]:
    exported = Exported(directory, APP, [])
    yield exported
    exported.end()


def test_OPS_8_answers_without_a_secret_and_believes_no_claims_of_the_gateway(app: Exported) -> None:
    # As a repository may have, to which Python must not be led.
    (app.directory / "source" / "types.py").write_text("raise RuntimeError('not this one')")
    (app.directory / "variables.json").write_text('{"UNITS": "metric", "ONLY_PREVIEW": "secret"}')
    app.start()
    claims = {"towpath_actor": "user:someone", "towpath_initialize": "e30", "towpath_secret": "x", "x_own": "1"}
    status, body = app.ask(**claims)
    assert status == 200
    assert "towpath" not in body and "'x-own'" in body
    # The value of the file, and none of a variable for previews only.
    assert body.endswith("'metric', None, 'shared_by_the_build')")
    assert f"http://127.0.0.1:{app.port}/mcp, to anybody" in app.output()


def test_OPS_8_on_loopback_it_answers_to_names_of_this_machine_only(app: Exported) -> None:
    app.start()
    for host in ("localhost", f"127.0.0.1:{app.port}", "[::1]:8000", "LOCALHOST:1"):
        assert app.ask(host=host)[0] == 200, host
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", ""):
        status, body = app.ask(host=host)
        assert status == 421 and "localhost" in body, host


def test_OPS_8_on_all_addresses_it_answers_to_every_name(app: Exported) -> None:
    app.start("0.0.0.0")
    assert app.ask(host="mcp.example.com")[0] == 200


def test_OPS_8_a_program_that_speaks_stdio_only_is_served_with_its_arguments(directory: Path) -> None:
    exported = Exported(directory, BY_HAND, ["by hand"])
    exported.start()
    try:
        accept = "application/json, text/event-stream"
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        status, body = exported.ask("POST", message, accept=accept, content_type="application/json")
        assert status == 200 and '"by hand"' in body
    finally:
        exported.end()
