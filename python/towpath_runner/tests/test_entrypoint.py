"""BLD-4: which objects an entrypoint can refer to, and how its file is imported."""

from __future__ import annotations

import pytest
from client import Client
from conftest import Start

#: FastMCP of the SDK, where the framework doesn't matter: it imports in half the time of the one on its own.
SDK = "mcp1"
SERVER = "from mcp.server.fastmcp import FastMCP\n"
NAMED = 'FastMCP("{name}")\n'

#: Test id: source, entrypoint, name of the server that must be served.
OBJECTS = {
    "mcp": ("mcp = FastMCP('one')\nserver = FastMCP('two')", "server.py", "one"),
    "server_when_no_mcp": ("app = FastMCP('three')\nserver = FastMCP('two')", "server.py", "two"),
    "app_last": ("app = FastMCP('three')\nother = FastMCP('four')", "server.py", "three"),
    "imported_module_named_mcp_is_not_a_server": ("import mcp\nserver = FastMCP('two')", "server.py", "two"),
    "explicit": ("mcp = FastMCP('one')\nother = FastMCP('four')", "server.py:other", "four"),
    "subclass": ("class Mine(FastMCP): pass\nmcp = Mine('mine')", "server.py", "mine"),
    "factory": ("def create():\n    return FastMCP('made')", "server.py:create", "made"),
    "factory_with_defaults": ("def create(name='made'):\n    return FastMCP(name)", "server.py:create", "made"),
    "factory_by_default_name": ("def server():\n    return FastMCP('made')", "server.py", "made"),
    "async_factory": (
        "import asyncio\nasync def create():\n    await asyncio.sleep(0)\n    return FastMCP('made')",
        "server.py:create",
        "made",
    ),
    "factory_that_uses_asyncio_run": (
        "import asyncio\nasync def make():\n    return FastMCP('made')\ndef create():\n    return asyncio.run(make())",
        "server.py:create",
        "made",
    ),
    "factory_of_an_asgi_app": ("def create():\n    return FastMCP('made').streamable_http_app()", "server.py:create", "made"),
    "lambda": ("create = lambda: FastMCP('made')", "server.py:create", "made"),
}


@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS.keys())
def test_BLD_4_object(start: Start, case: tuple[str, str, str]) -> None:
    source, entrypoint, name = case
    harness = start({"server.py": SERVER + source}, entrypoint, SDK)
    harness.ready()
    assert Client(harness.socket).initialize()["serverInfo"]["name"] == name


#: Test id: files, entrypoint; the server is always named "right".
RIGHT = SERVER + "mcp = FastMCP(NAME)\n"
LAYOUTS = {
    "sibling": ({"server.py": "from names import NAME\n" + RIGHT, "names.py": "NAME = 'right'"}, "server.py"),
    "subdirectory_sees_sibling_and_root": (
        {"app/server.py": "from half import A\nfrom other import B\nNAME = A + B\n" + RIGHT,
         "app/half.py": "A = 'ri'", "other.py": "B = 'ght'"},
        "app/server.py",
    ),
    "package_with_relative_imports": (
        {"src/pkg/__init__.py": "", "src/pkg/names.py": "NAME = 'right'",
         "src/pkg/server.py": "from .names import NAME\nfrom pkg.names import NAME\n" + RIGHT},
        "src/pkg/server.py",
    ),
    "nested_package": (
        {"pkg/__init__.py": "", "pkg/names.py": "NAME = 'right'", "pkg/deep/__init__.py": "",
         "pkg/deep/server.py": "from ..names import NAME\n" + RIGHT},
        "pkg/deep/server.py",
    ),
    "package_sibling_by_plain_name": (
        {"pkg/__init__.py": "", "pkg/names.py": "NAME = 'right'", "pkg/server.py": "from names import NAME\n" + RIGHT},
        "pkg/server.py",
    ),
    "src_layout_that_is_not_installed": (
        {"server.py": "from pkg.names import NAME\n" + RIGHT, "src/pkg/__init__.py": "",
         "src/pkg/names.py": "NAME = 'right'"},
        "server.py",
    ),
    "sibling_registers_on_the_same_module": (
        {"server.py": "NAME = 'wrong'\nimport late\n" + RIGHT,
         "late.py": "import server\nserver.NAME = 'right'"},
        "server.py",
    ),
    "file_named_as_the_framework": (
        {"mcp.py": "NAME = 'right'\nfrom fastmcp import FastMCP\nmcp = FastMCP(NAME)\n"}, "mcp.py",
    ),
    "sibling_named_as_a_standard_module": (
        {"server.py": "import types\nNAME = 'right'\n" + RIGHT, "types.py": "raise RuntimeError('hides types')"},
        "server.py",
    ),
    "root_file_named_as_what_the_harness_needs": (
        {"server.py": "NAME = 'right'\n" + RIGHT, "json.py": "raise RuntimeError('hides json')"},
        "server.py",
    ),
    "name_that_is_not_an_identifier": ({"my-server.py": "NAME = 'right'\n" + RIGHT}, "my-server.py"),
    "changes_directory_and_reads_arguments": (
        {"server.py": "import os, argparse\nargparse.ArgumentParser().parse_args()\nos.chdir('/')\n"
                      "NAME = 'right'\n" + RIGHT},
        "server.py",
    ),
    "spawned_process_and_pickle": (
        {"server.py": """
            import multiprocessing, pickle
            from dataclasses import dataclass
            from pydantic import BaseModel

            @dataclass
            class Point:
                x: "int"

            class Model(BaseModel):
                point: "Point"

            def name():
                return "right"

            def create():
                assert pickle.loads(pickle.dumps(Model(point=Point(1)))).point.x == 1
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    from mcp.server.fastmcp import FastMCP
                    return FastMCP(pool.apply(name))
         """},
        "server.py:create",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_BLD_4_layout(start: Start, case: tuple[dict[str, str], str]) -> None:
    files, entrypoint = case
    harness = start(files, entrypoint, "fastmcp4" if "mcp.py" in files else SDK)
    harness.ready()
    assert Client(harness.socket).initialize()["serverInfo"]["name"] == "right"
