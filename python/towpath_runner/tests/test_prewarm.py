"""Interpreters that import the frameworks ahead of time and become a server later (RUN-3)."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from client import SECRET, Client, UnixConnection
from environments import python_of
from harness import Harness
from prewarmed import BASE, IS_THOROUGH, fork
from test_captures import CASES
from test_frameworks import FASTMCP, SDK_1, SDK_2

#: A server that tells what its code finds when it is loaded, after its own line.
TELLING = FASTMCP + """
    import json, os, sys, threading
    print("FOUND " + json.dumps({
        "environment": dict(os.environ),
        "argv": sys.argv,
        "path": sys.path,
        "directory": os.getcwd(),
        "name": __name__,
        "main": sys.modules["__main__"].__spec__.name,
        "stdin": sys.stdin.read(),
        "threads": len(threading.enumerate()),
        "frameworks": sorted({"fastapi", "numpy", "mcp.server.fastmcp"} & set(sys.modules)),
    }))
"""


#: A tool that tells what was imported after the server's code was loaded.
SINCE_LOADED = """
    import sys
    LOADED = set(sys.modules)

    @mcp.tool()
    def since_loaded() -> str:
        return " ".join(sorted(set(sys.modules) - LOADED))

    @mcp.tool()
    def while_loading() -> str:
        return " ".join(sorted(LOADED - STARTED))
"""

#: Before the server's code.
STARTED = """
    import sys
    STARTED = set(sys.modules)
"""


class Interpreter(Harness):
    """A process that waits, with an empty repository, until `claim`; a forked one is there only from then on."""

    def __init__(self, environment: str, directory: Path, python: Path | None, is_forked: bool) -> None:
        self.directory = directory
        self.root = directory / "repo"
        self.root.mkdir()
        self.layer = directory / "layer"
        self.layer.mkdir()
        self.socket = directory / "mcp.sock"
        self.status_file = directory / "status.json"
        self._output = directory / "output.txt"
        self.connect = functools.partial(UnixConnection, self.socket)
        self._forked_from = environment if is_forked else None
        if is_forked:
            return
        self._environment = BASE | {"PATH": os.environ["PATH"], "HOME": str(directory)}
        command = [str(python or python_of(environment)), "-m", "towpath_runner", "--prewarm-status", str(self.status_file)]
        with open(self._output, "w") as output:
            self.process = subprocess.Popen(
                command, cwd=self.root, env=self._environment, stdin=subprocess.PIPE, stdout=output, stderr=output
            )

    def claim(self, files: dict[str, str] | str, entrypoint: str = "server.py", argv: Sequence[str] = (), **env: str) -> dict[str, Any]:
        """The status after it has got a server."""
        if self._forked_from is None:
            assert self.status() == {"state": "prewarmed"}
            self.status_file.unlink()
        for path, text in ({"server.py": files} if isinstance(files, str) else files).items():
            target = self.layer / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(text))
        arguments = [f"--layer={self.layer}", f"--entrypoint={entrypoint}"]
        arguments += [f"--listen={self.socket}", f"--status={self.status_file}"]
        arguments += [f"--argument={argument}" for argument in argv]
        if self._forked_from is not None:
            self.process = fork(self._forked_from, self.root, self._output, arguments, env)
            return self.status()
        assert isinstance(self.process, subprocess.Popen) and self.process.stdin is not None
        claim = {"env": self._environment | env, "arguments": arguments, "secret": SECRET}
        self.process.stdin.write(json.dumps(claim).encode())
        self.process.stdin.close()
        return self.status()


Prewarm = Callable[..., Interpreter]


@pytest.fixture
def prewarm() -> Iterator[Prewarm]:
    started: list[Interpreter] = []
    with tempfile.TemporaryDirectory(prefix="tw") as base:

        def begin(environment: str = "fastmcp4", python: Path | None = None, is_forked: bool = False) -> Interpreter:
            own = Path(tempfile.mkdtemp(dir=base))
            interpreter = Interpreter(environment, own, python, is_forked)
            started.append(interpreter)
            return interpreter

        yield begin
        for interpreter in started:
            interpreter.end()


@pytest.mark.parametrize(
    ("environment", "source"),
    [("fastmcp2", FASTMCP), ("fastmcp3", FASTMCP), ("fastmcp4", FASTMCP), ("mcp1", SDK_1), ("mcp2", SDK_2)],
)
def test_RUN_3_every_framework_is_prewarmed_and_serves(prewarm: Prewarm, environment: str, source: str) -> None:
    # By default two wait as on a runner, and the others are forked after the same imports.
    interpreter = prewarm(environment, is_forked=not IS_THOROUGH and environment not in ("fastmcp4", "mcp1"))
    status = interpreter.claim(STARTED + source + SINCE_LOADED, TOKEN="x", TOWPATH_CLOUD_URL="http://demo.example")
    assert status["state"] == "ready" and status["prewarm"] == "used", (status, interpreter.output())
    client = Client(interpreter.socket)
    client.initialize()
    assert client.call("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})["content"][0]["text"] == "3"
    assert len(client.call("tools/list")["tools"]) > 1
    since_loaded = client.call("tools/call", {"name": "since_loaded", "arguments": {}})["content"][0]["text"].split()
    assert len(since_loaded) < 20, "the first calls import what could have been there"
    if environment == "fastmcp4":
        # What forks share: of which each would have a copy otherwise.
        while_loading = client.call("tools/call", {"name": "while_loading", "arguments": {}})["content"][0]["text"].split()
        assert len(while_loading) < 20, "the code of a server imports what could have been there"
    assert interpreter.stop()[0] == 0


def test_RUN_3_BLD_16_a_console_script_is_served_by_a_prewarmed_interpreter(prewarm: Prewarm) -> None:
    files, entrypoint, environment, kind = CASES["console_script_with_click"]
    interpreter = prewarm(environment, is_forked=True)
    status = interpreter.claim(files, entrypoint, ["--name", "${NAME} server"], NAME="prewarmed")
    assert (status["state"], status["kind"], status["prewarm"]) == ("ready", kind, "used"), interpreter.output()
    assert Client(interpreter.socket).initialize()["serverInfo"]["name"] == "prewarmed server"
    assert interpreter.stop()[0] == 0


def test_RUN_3_code_finds_the_same_as_after_an_ordinary_start(prewarm: Prewarm) -> None:
    def found(interpreter: Interpreter) -> dict[str, Any]:
        line = next(line for line in interpreter.output().splitlines() if line.startswith("FOUND "))
        return json.loads(line.removeprefix("FOUND "))

    used = prewarm()
    assert used.claim(TELLING, TOKEN="a 'b'")["prewarm"] == "used"
    # A variable that FastMCP reads makes it execute the ordinary start.
    ordinary = prewarm()
    assert ordinary.claim(TELLING, TOKEN="a 'b'", FASTMCP_LOG_LEVEL="DEBUG")["prewarm"] == "environment"
    one, other = found(used), found(ordinary)
    assert other["environment"].pop("FASTMCP_LOG_LEVEL") == "DEBUG"
    for each in (one, other):
        for name in ("directory", "argv", "path"):
            each[name] = json.loads(json.dumps(each[name]).replace(each["environment"]["HOME"], "HOME"))
        each["environment"].pop("HOME")
    assert one == other
    assert one["environment"]["TOKEN"] == "a 'b'"
    assert one["threads"] == 1


def test_RUN_3_code_is_loaded_only_after_the_claim(prewarm: Prewarm) -> None:
    interpreter = prewarm("mcp1")
    assert interpreter.status() == {"state": "prewarmed"}
    assert interpreter.output() == ""
    interpreter.claim("print('loaded')\n" + textwrap.dedent(SDK_1))
    assert "loaded" in interpreter.output()


#: Tried by `./towpath test thorough`: each imports its framework twice.
FURTHER_OBSTACLES: tuple[tuple[dict[str, str], dict[str, str], str], ...] = (
    ({}, {"FASTMCP_STATELESS_HTTP": "true"}, "environment"),
    ({}, {"OTEL_PROPAGATORS": "tracecontext"}, "environment"),
    ({}, {"TZ": "Asia/Tokyo"}, "environment"),
)


@pytest.mark.parametrize(
    ("files", "env", "obstacle"),
    [
        ({}, {"fastmcp_log_level": "DEBUG"}, "environment"),
        ({}, {"PYTHONHASHSEED": "1"}, "environment"),
        *(FURTHER_OBSTACLES if IS_THOROUGH else ()),
        ({"rich/__init__.py": "from towpath_no_such import x"}, {}, None),
        ({"helpers/rich.py": ""}, {"TOKEN": "x", "DEBUG": "1", "HTTPX_TOKEN": "y"}, "used"),
    ],
)
def test_RUN_3_where_imports_could_have_gone_differently_the_server_starts_in_a_new_interpreter(
    prewarm: Prewarm, files: dict[str, str], env: dict[str, str], obstacle: str | None
) -> None:
    # What FastMCP reads needs it; the rest doesn't, and the SDK imports in half the time.
    of_python = bool(env.keys() & {"PYTHONHASHSEED", "TZ"})
    interpreter = prewarm("mcp1" if of_python else "fastmcp4", is_forked=True)
    status = interpreter.claim({"server.py": SDK_1 if of_python else FASTMCP} | files, **env)
    if obstacle is None:
        # As in an ordinary start, the code's own module takes the place of the one that FastMCP needs.
        assert (status["state"], status["module"]) == ("failed", "towpath_no_such")
        return
    assert (status["state"], status["prewarm"]) == ("ready", obstacle), interpreter.output()
    assert Client(interpreter.socket).status() == 200


def test_RUN_3_a_setting_that_is_read_at_import_takes_effect(prewarm: Prewarm) -> None:
    source = FASTMCP + "\n    import fastmcp\n    print('LEVEL', fastmcp.settings.log_level)\n"
    if IS_THOROUGH:
        by_variable = prewarm(is_forked=True)
        by_variable.claim(source, FASTMCP_LOG_LEVEL="ERROR")
        assert "LEVEL ERROR" in by_variable.output()
    by_file = prewarm(is_forked=True)
    status = by_file.claim({"server.py": source, ".env": "FASTMCP_LOG_LEVEL=ERROR"})
    assert (status["state"], status["prewarm"]) == ("ready", "dotenv"), by_file.output()
    assert "LEVEL ERROR" in by_file.output()
    assert Client(by_file.socket).status() == 200


def test_RUN_3_failures_are_reported_as_usual(prewarm: Prewarm) -> None:
    interpreter = prewarm("mcp1", is_forked=True)
    assert interpreter.claim("import nowhere\n")["code"] == "module_missing"
    assert prewarm("mcp1", is_forked=True).claim({}, "missing.py")["code"] == "entrypoint_not_found"


def test_RUN_3_environments_whose_start_runs_other_code_are_not_prewarmed(prewarm: Prewarm, tmp_path: Path) -> None:
    assert prewarm("bare").status()["state"] == "unsuitable"
    environment = tmp_path / "environment"
    shutil.copytree(python_of("mcp1").parent.parent, environment, symlinks=True)
    packages = next(environment.glob("lib/python3*/site-packages"))
    python = environment / "bin" / "python"
    (packages / "paths.pth").write_text("somewhere\n")
    assert prewarm(python=python).status()["state"] == "prewarmed"
    (packages / "tracer.pth").write_text("import os\n")
    assert "tracer.pth" in prewarm(python=python).status()["reason"]
    (packages / "tracer.pth").unlink()
    if subprocess.run([python, "-c", "import sitecustomize"], capture_output=True, check=False).returncode == 0:
        # Debian's Python has one of its own, which comes first and is the same for all servers.
        return
    (packages / "sitecustomize.py").write_text("")
    assert "sitecustomize" in prewarm(python=python).status()["reason"]


def test_RUN_3_directories_that_pth_files_name_are_importable(prewarm: Prewarm, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    shutil.copytree(python_of("mcp1").parent.parent, environment, symlinks=True)
    packages = next(environment.glob("lib/python3*/site-packages"))
    interpreter = prewarm(python=environment / "bin" / "python")
    (packages / "project.pth").write_text(f"{interpreter.root}/lib\n")
    status = interpreter.claim({"server.py": SDK_1 + "\n    import inside\n", "lib/inside.py": ""})
    assert status["prewarm"] == "used", (status, interpreter.output())


def test_RUN_3_it_ends_when_no_server_comes(prewarm: Prewarm) -> None:
    interpreter = prewarm("mcp1")
    assert interpreter.status() == {"state": "prewarmed"}
    assert interpreter.process.stdin is not None
    interpreter.process.stdin.close()
    assert interpreter.process.wait(timeout=10) == 0
