"""Packages of the repository that have the name of an installed one (BLD-16)."""

from __future__ import annotations

import pytest
from client import Client
from conftest import Start

SERVER = """
import {installed}
from {name}.names import NAME
from fastmcp import FastMCP
mcp = FastMCP(NAME)
def main():
    mcp.run()
"""


def name_of(start: Start, files: dict[str, str], entrypoint: str) -> str:
    harness = start(files, entrypoint)
    harness.ready()
    name: str = Client(harness.socket).initialize()["serverInfo"]["name"]
    return name


# `click` is imported by uvicorn, which the harness needs; `dns` by nobody before the server does.
@pytest.mark.parametrize(
    "name, installed, place, init",
    [("click", "click.termui", "src/", True), ("dns", "dns.name", "", True), ("dns", "dns.name", "src/", False)],
)
def test_BLD_16_a_package_of_the_repository_may_have_the_name_of_an_installed_one(
    name: str, installed: str, place: str, init: bool, start: Start
) -> None:
    files = {
        f"{place}{name}/names.py": "NAME = 'right'",
        f"{place}{name}/shop.py": SERVER.format(installed=installed, name=name),
    }
    if init:
        files[f"{place}{name}/__init__.py"] = ""
    assert name_of(start, files, f"{name}.shop:main") == "right"


def test_BLD_16_a_file_imports_what_src_has_of_a_package_with_the_name_of_an_installed_one(start: Start) -> None:
    files = {
        "server.py": SERVER.format(installed="dns.name", name="dns"),
        "src/dns/__init__.py": "",
        "src/dns/names.py": "NAME = 'right'",
        # The framework stays what is installed.
        "src/mcp/__init__.py": "raise RuntimeError('hides mcp')",
    }
    assert name_of(start, files, "server.py") == "right"
