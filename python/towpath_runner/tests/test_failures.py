"""BLD-2, the harness's part: each cause is recognized and reported with file and line."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Start
from prewarmed import IS_THOROUGH

FASTMCP = "from fastmcp import FastMCP\n"
#: For environment `mcp1`: it imports in half the time.
FASTMCP_OF_SDK = "from mcp.server.fastmcp import FastMCP\n"


def expect(start: Start, files: dict[str, str] | str, entrypoint: str = "server.py", **more: str) -> dict[str, Any]:
    return start(files, entrypoint, **more).failed()


def test_BLD_2_entrypoint_not_found(start: Start) -> None:
    status = expect(start, {"other.py": ""})
    assert status["code"] == "entrypoint_not_found"
    assert status["file"] == "server.py" and "server.py" in status["message"]


def test_BLD_2_entrypoint_is_a_directory(start: Start) -> None:
    status = expect(start, {"server/main.py": ""}, "server")
    assert status["code"] == "entrypoint_not_found" and "is a directory" in status["message"]


def test_BLD_2_entrypoint_is_not_python(start: Start) -> None:
    assert expect(start, {"server.txt": ""}, "server.txt")["code"] == "entrypoint_not_found"


def test_BLD_2_syntax_error(start: Start) -> None:
    status = expect(start, "x = 1\ndef broken(:\n    pass\n")
    assert (status["code"], status["file"], status["line"]) == ("syntax_error", "server.py", 2)


def test_BLD_2_syntax_error_in_an_imported_file(start: Start) -> None:
    status = expect(start, {"server.py": "import tools.a", "tools/a.py": "if True:\nx = 1\n"})
    assert (status["code"], status["file"], status["line"]) == ("syntax_error", "tools/a.py", 2)


def test_BLD_2_syntax_error_of_evaluated_text_is_an_import_failure(start: Start) -> None:
    status = expect(start, "x = 1\neval('1 +')\n")
    assert (status["code"], status["file"], status["line"]) == ("import_failed", "server.py", 2)


def test_BLD_2_module_missing(start: Start) -> None:
    status = expect(start, {"server.py": "import tools", "tools.py": "\nimport pandas.core\n"})
    assert (status["code"], status["module"]) == ("module_missing", "pandas")
    assert (status["file"], status["line"]) == ("tools.py", 2)
    assert "`pandas`" in status["message"] and "tools.py" in status["message"]


def test_BLD_2_framework_missing(start: Start) -> None:
    status = expect(start, FASTMCP, environment="bare")
    assert (status["code"], status["module"]) == ("module_missing", "fastmcp")


def test_BLD_2_uvicorn_missing(start: Start) -> None:
    source = "async def app(scope, receive, send): pass"
    status = expect(start, source, environment="bare")
    assert (status["code"], status["module"]) == ("module_missing", "uvicorn")


def test_BLD_2_uvicorn_that_cannot_be_imported(start: Start) -> None:
    # As click 6.7 does it, which `click<7` installs, together with the newest uvicorn that allows it.
    broken = "import sys, types\nsys.modules['click'] = types.ModuleType('click')\n"
    source = broken + "async def app(scope, receive, send): pass"
    status = start(source, environment="fastmcp4", is_prewarmed=False).failed()
    assert (status["code"], status["module"], status["candidates"]) == ("dependency_mismatch", "uvicorn", []), status
    assert "needs uvicorn. The installed one, " in status["message"] and "AttributeError" in status["message"]
    assert "own requirements" in status["message"] or "What holds it there: " in status["message"]


def test_BLD_2_code_for_mcp_1_with_mcp_2(start: Start) -> None:
    status = expect(start, "from mcp.server.fastmcp import FastMCP", environment="mcp2")
    assert (status["code"], status["file"], status["line"]) == ("mcp_version_mismatch", "server.py", 1)
    assert "mcp<2" in status["message"] and "MCPServer" in status["message"]
    assert status["candidates"] == ["mcp<2"]


def test_BLD_2_decorators_of_mcp_1_with_mcp_2(start: Start) -> None:
    code = "from mcp.server import Server\nserver = Server('x')\n@server.list_tools()\nasync def tools(): ..."
    status = expect(start, code, environment="mcp2")
    assert (status["code"], status["line"]) == ("mcp_version_mismatch", 3)
    assert "has no `list_tools`" in status["message"] and status["candidates"] == ["mcp<2"]
    own = code.replace("server = Server('x')", "class Mine(Server): ...\nserver = Mine('x')")
    status = expect(start, own, environment="mcp2")
    assert (status["code"], status["line"], status["candidates"]) == ("mcp_version_mismatch", 4, ["mcp<2"]), status
    # Also where the server catches it and ends, or says something else.
    for end in ("print('Failed.'); sys.exit(1)", "raise RuntimeError('Failed.') from error"):
        caught = f"import sys\nfrom mcp.server import Server\ntry:\n    Server('x').list_tools()\nexcept Exception as error:\n    {end}\n"
        status = expect(start, caught, environment="mcp2")
        assert (status["code"], status["line"], status["candidates"]) == ("mcp_version_mismatch", 4, ["mcp<2"]), status


def test_BLD_2_name_of_mcp_1_with_mcp_2(start: Start) -> None:
    status = expect(start, "from mcp.server import FastMCP", environment="mcp2")
    assert status["code"] == "mcp_version_mismatch"


def test_BLD_2_code_for_mcp_2_with_mcp_1(start: Start) -> None:
    for source in ("from mcp.server import MCPServer", "from mcp.server.mcpserver import MCPServer"):
        status = expect(start, source, environment="mcp1")
        assert status["code"] == "mcp_version_mismatch" and "mcp>=2" in status["message"]
        assert status["candidates"] == ["mcp>=2"]


def test_BLD_2_framework_for_mcp_1_with_mcp_2(start: Start) -> None:
    status = expect(start, FASTMCP, environment="fastmcp2.10-mcp2")
    assert (status["code"], status["file"], status["line"]) == ("mcp_version_mismatch", "server.py", 1)
    assert "`fastmcp` 2.10.0" in status["message"] and "mcp<2" in status["message"]


def test_BLD_2_misspelled_import_from_mcp_is_not_a_mismatch(start: Start) -> None:
    assert expect(start, "from mcp.server import Srever", environment="mcp2")["code"] == "import_failed"


def test_BLD_2_import_failed(start: Start) -> None:
    status = expect(start, {"server.py": "import deep", "deep.py": "def go():\n    return 1 / 0\ngo()\n"})
    assert (status["code"], status["file"], status["line"]) == ("import_failed", "deep.py", 2)
    assert "ZeroDivisionError" in status["message"]
    trace = status["traceback"]
    assert "server.py" in trace and "deep.py" in trace
    assert "towpath_runner" not in trace and "importlib" not in trace


def test_BLD_2_import_failed_keeps_the_chain_of_causes(start: Start) -> None:
    source = "try:\n    {}['a']\nexcept KeyError as error:\n    raise RuntimeError('no a') from error\n"
    status = expect(start, source)
    assert status["code"] == "import_failed"
    assert "KeyError: 'a'" in status["traceback"] and "RuntimeError: no a" in status["traceback"]


def test_BLD_2_relative_import_without_package(start: Start) -> None:
    status = expect(start, {"app/server.py": "from .tools import x", "app/tools.py": "x = 1"}, "app/server.py")
    assert status["code"] == "import_failed" and "__init__.py" in status["message"]


@pytest.mark.parametrize("environment", ["bare", "fastmcp4-python3.10", *(["fastmcp4-python3.13"] if IS_THOROUGH else [])])
def test_BLD_2_variable_missing(start: Start, environment: str) -> None:
    status = expect(start, "import os\n\nKEY = os.environ['WEATHER_KEY']\n", environment=environment)
    assert (status["code"], status["file"], status["line"]) == ("variable_missing", "server.py", 3)
    assert status["candidates"] == ["WEATHER_KEY"] and "`WEATHER_KEY`" in status["message"]


def test_BLD_2_all_variables_that_a_file_requires_are_asked_for_at_once(start: Start) -> None:
    source = """
        from os import environ
        import os

        KEY = os.environ["WEATHER_KEY"]
        REGION = environ["WEATHER_REGION"]
        PATH, LEVEL = os.environ["PATH"], os.environ.get("LEVEL")
        os.environ["OWN"] = "1"

        def later():
            return os.environ["WEATHER_URL"] + environ["WEATHER_KEY"]
    """
    status = expect(start, source)
    assert (status["code"], status["candidates"]) == ("variable_missing", ["WEATHER_KEY", "WEATHER_REGION", "WEATHER_URL"])
    assert "line 5 requires. It also requires `WEATHER_REGION`, `WEATHER_URL`." in status["message"]


def test_BLD_2_key_of_another_dict_is_not_a_variable(start: Start) -> None:
    assert expect(start, "KEY = {}['WEATHER_KEY']\n")["code"] == "import_failed"


def test_BLD_2_variables_missing_in_settings(start: Start) -> None:
    source = """
        from pydantic import Field
        from pydantic_settings import BaseSettings, SettingsConfigDict

        class Settings(BaseSettings):
            model_config = SettingsConfigDict(env_prefix="shop_")
            token: str
            region: str = "eu"
            database: str = Field(validation_alias="DATABASE_URL")

        settings = Settings()
    """
    status = expect(start, source, environment="mcp2")
    assert (status["code"], status["line"]) == ("variable_missing", 11)
    assert status["candidates"] == ["SHOP_TOKEN", "DATABASE_URL"]


def test_BLD_2_variables_that_a_validator_of_settings_names(start: Start) -> None:
    """One of two is enough, so neither is a required field."""
    source = """
        from pydantic import model_validator
        from pydantic_settings import BaseSettings

        class Settings(BaseSettings):
            shop_token: str = ""
            shop_header: str = ""

            @model_validator(mode="after")
            def check(self):
                if not (self.shop_token or self.shop_header):
                    raise ValueError("SHOP_TOKEN or SHOP_HEADER is required")
                return self

        settings = Settings()
    """
    status = expect(start, source, environment="mcp2")
    assert (status["code"], status["candidates"]) == ("variable_missing", ["SHOP_TOKEN", "SHOP_HEADER"])


def test_BLD_2_other_validation_errors_are_not_about_variables(start: Start) -> None:
    source = """
        from pydantic import BaseModel
        class Shape(BaseModel):
            sides: int
        Shape()
    """
    assert expect(start, source)["code"] == "import_failed"


def test_BLD_2_variable_named_in_an_error_message(start: Start) -> None:
    source = """
        import os
        if not os.getenv("STRIPE_API_KEY"):
            raise ValueError("Please set the STRIPE_API_KEY environment variable")
    """
    status = expect(start, source)
    assert (status["code"], status["candidates"]) == ("variable_missing", ["STRIPE_API_KEY"])


def test_BLD_2_object_missing_names_candidates(start: Start) -> None:
    source = FASTMCP_OF_SDK + "weather = FastMCP('w')\ndef create_server():\n    return weather\ndef helper(): pass\n"
    for entrypoint in ("server.py", "server.py:mcp"):
        status = expect(start, source, entrypoint, environment="mcp1")
        assert (status["code"], status["candidates"]) == ("object_missing", ["weather", "create_server"])
        assert "server.py:weather" in status["message"]


def test_BLD_2_object_missing_without_candidates(start: Start) -> None:
    status = expect(start, "x = 1")
    assert (status["code"], status["candidates"]) == ("object_missing", [])


def test_BLD_2_unsupported_object(start: Start) -> None:
    for entrypoint in ("server.py", "server.py:app"):
        status = expect(start, "app = {'not': 'a server'}", entrypoint)
        assert status["code"] == "unsupported_object" and "`dict`" in status["message"]


def test_BLD_2_unsupported_class(start: Start) -> None:
    status = expect(start, FASTMCP + "class Mine(FastMCP): pass", "server.py:Mine")
    assert status["code"] == "unsupported_object" and "instance" in status["message"]


def test_BLD_2_factory_failed(start: Start) -> None:
    for head in ("def create():", "async def create():"):
        status = expect(start, f"{head}\n    raise RuntimeError('no luck')\n", "server.py:create")
        assert (status["code"], status["file"], status["line"]) == ("factory_failed", "server.py", 2)
        assert "no luck" in status["message"]


def test_BLD_2_factory_with_arguments(start: Start) -> None:
    status = expect(start, "\ndef create(region, size=1):\n    pass\n", "server.py:create")
    assert (status["code"], status["line"]) == ("factory_failed", 2)
    assert "`region`" in status["message"] and "size" not in status["message"]


def test_BLD_2_factory_that_returns_something_else(start: Start) -> None:
    for head in ("def create():", "async def create():"):
        status = expect(start, f"{head}\n    return 5\n", "server.py:create")
        assert status["code"] == "unsupported_object"
        assert "`create`" in status["message"] and "`int`" in status["message"]


LIFESPAN = """
    from contextlib import asynccontextmanager
    from {module} import {name}

    @asynccontextmanager
    async def lifespan(server):
        {body}
        yield

    {target} = {name}({arguments}lifespan=lifespan)
"""


def lifespan(module: str, name: str, target: str, body: str) -> str:
    arguments = "" if target == "app" else "'x', "
    return LIFESPAN.format(module=module, name=name, target=target, body=body, arguments=arguments)


def test_BLD_2_lifespan_failed(start: Start) -> None:
    body = "raise RuntimeError('no database')"
    for environment, source in {
        "fastmcp2": lifespan("fastmcp", "FastMCP", "mcp", body),
        "fastmcp3": lifespan("fastmcp", "FastMCP", "mcp", body),
        "fastmcp4": lifespan("fastmcp", "FastMCP", "mcp", body),
        "mcp2": lifespan("mcp.server", "MCPServer", "mcp", body),
        "mcp1": lifespan("starlette.applications", "Starlette", "app", body),
    }.items():
        status = expect(start, source, environment=environment)
        assert (status["code"], status["file"], status["line"]) == ("lifespan_failed", "server.py", 7), environment
        assert "no database" in status["message"]


def test_BLD_2_variable_missing_in_the_lifespan(start: Start) -> None:
    status = expect(start, lifespan("fastmcp", "FastMCP", "mcp", "import os; os.environ['DB_URL']"))
    assert (status["code"], status["candidates"]) == ("variable_missing", ["DB_URL"])


def test_BLD_2_app_that_refuses_to_start(start: Start) -> None:
    source = """
        async def app(scope, receive, send):
            await receive()
            await send({"type": "lifespan.startup.failed", "message": "no licence"})
    """
    status = expect(start, source)
    assert status["code"] == "lifespan_failed" and "no licence" in status["message"]


def test_BLD_2_starts_what_cannot_be_served(start: Start) -> None:
    # No port: tried as a program on stdio, uvicorn itself would listen until the time is up.
    source = "import uvicorn\ntry:\n    uvicorn.run({'not': 'an app'}, port=-1)\nexcept Exception:\n    pass\n"
    status = expect(start, source, environment="mcp2")
    assert status["code"] == "import_failed" and "ASGI app" in status["message"], status
    assert (status["file"], status["line"]) == ("server.py", 3), status


#: Where a server ends its process: the file, in which END does it, and the line.
ENDS = {
    "import": ("server.py", "import sys\nprint('hello')\nEND\n", 3),
    "factory": ("server.py:create", "import sys\ndef create():\n    print('hello')\n    END\n", 4),
    "main": ("server:main", "import sys\ndef main():\n    print('hello')\n    END\n", 4),
    "lifespan": ("server.py", lifespan("fastmcp", "FastMCP", "mcp", "import sys; print('hello'); END"), 7),
}


@pytest.mark.parametrize("where", ENDS)
def test_BLD_2_a_server_that_ends_the_process_says_how_and_where(start: Start, where: str) -> None:
    entrypoint, source, line = ENDS[where]
    for end, how in (
        ("sys.exit(2)", "with exit status 2. It printed: hello"),
        ("raise SystemExit('No config.')", "and says: No config. It printed: hello"),
        ("sys.exit()", "with exit status 0. It printed: hello"),
    ):
        status = expect(start, source.replace("END", end), entrypoint)
        assert (status["code"], status["file"], status["line"]) == ("exited_early", "server.py", line), status
        assert status["message"] == f"`server.py` line {line} ends the process before there is a server, {how}"


def test_BLD_2_text_that_is_not_unicode_does_not_break_the_status(start: Start) -> None:
    status = expect(start, "raise RuntimeError('\\udcff broken')\n")
    assert status["code"] == "import_failed"


def test_BLD_2_long_message_stays_within_what_the_runner_reads(start: Start) -> None:
    harness = start("raise RuntimeError('x' * 1_000_000)\n")
    assert harness.status()["code"] == "import_failed"
    assert harness.status_file.stat().st_size < 64 * 1024
