"""The commands of a program, read from its help."""

from __future__ import annotations

import pytest
from towpath_runner.usage import commands_in

CLICK = """Usage: shop [OPTIONS] COMMAND [ARGS]...

  Sells things. Commands are listed below.

Options:
  --help  Show this message and exit.

Commands:
  init    Makes a new shop, with all that
          belongs to it.
  serve   Starts the MCP server.
  tear-down
"""

TYPER = """
 Usage: shop [OPTIONS] COMMAND [ARGS]...

╭─ Options ──────────────────────────────╮
│ --help          Show this message.     │
╰────────────────────────────────────────╯
╭─ Commands ─────────────────────────────╮
│ init    Makes a new shop, with all     │
│         that belongs to it.            │
│ serve   Starts the MCP server.         │
╰────────────────────────────────────────╯
"""

ARGPARSE = """usage: shop [-h] [--color {red,blue}]
            {init,serve} ...
shop: error: the following arguments are required: command
"""


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        (CLICK, ["init", "serve", "tear-down"]),
        (TYPER, ["init", "serve"]),
        (ARGPARSE, ["init", "serve"]),
        ("usage: shop [-h] --db-path DB_PATH\nshop: error: the following arguments are required: --db-path", []),
        ("Commands:\n", []),
        ("", []),
    ],
)
def test_BLD_16_reads_the_commands_of_a_program(text: str, commands: list[str]) -> None:
    assert commands_in(text) == commands
