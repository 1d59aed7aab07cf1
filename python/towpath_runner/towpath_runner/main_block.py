"""Analyzes a file's main block, and runs it in the module as loaded (BLD-16)."""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.kinds import ASGI, kind_of

#: Calls of a block that only starts the server.
_STARTING = frozenset(
    {
        *("run", "run_async", "run_stdio_async", "run_http_async", "run_sse_async", "run_streamable_http_async"),
        *("settings", "name", "http_app", "sse_app", "streamable_http_app", "create_initialization_options"),
    }
)
_DECORATORS = ("tool", "resource", "prompt", "custom_route")

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class MainBlock:
    """`run` executes the block. `additions`: statements in which the server may get more than it has now, as `line 40:
    register(mcp)`; `tools`: names of functions that are defined there as tools, resources or prompts.
    """

    run: Callable[[], Any]
    additions: list[str]
    tools: list[str]


def main_block(entrypoint: Entrypoint, module: ModuleType) -> MainBlock | None:
    """The file's main block; None if there is none. Not `runpy`: a second module would define everything twice, which
    registries of models or metrics refuse.
    """
    with open(entrypoint.path, "rb") as stream:
        source = stream.read()
    if b"__main__" not in source:
        return None
    tree = ast.parse(source, entrypoint.path)
    body = [step for node in tree.body if isinstance(node, ast.If) and _is_main(node.test) for step in node.body]
    if not body:
        return None
    code = compile(ast.Module(body, type_ignores=[]), entrypoint.path, "exec")
    reached = list(_reached(body, tree))
    servers = {name for name, value in vars(module).items() if kind_of(value) not in (None, ASGI)}
    added = sorted((node for node in reached if _adds(node, servers, entrypoint.root)), key=lambda node: node.lineno)
    lines = dict.fromkeys(f"line {node.lineno}: {ast.unparse(node).splitlines()[0]}" for node in added)
    tools = [node.name for node in reached if isinstance(node, _Function) and _is_registered(node)]
    return MainBlock(functools.partial(exec, code, vars(module)), list(lines), list(dict.fromkeys(tools)))


def _is_main(test: ast.expr) -> bool:
    """Whether it is `__name__ == "__main__"`, in either order."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _reached(body: list[ast.stmt], tree: ast.Module) -> Iterator[Any]:
    """The nodes of the block, and of the file's functions that it calls, directly or through one another."""
    functions = {node.name: node for node in tree.body if isinstance(node, _Function)}
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop(0)
        for each in ast.walk(node):
            yield each
            if isinstance(each, ast.Name) and each.id in functions:
                waiting.append(functions.pop(each.id))


def _adds(node: ast.AST, servers: set[str], root: str) -> bool:
    """Whether the server may have more afterwards: it is passed on or changed, or the repository's code is imported."""
    if isinstance(node, _Function):
        return _is_registered(node)
    if isinstance(node, ast.Import):
        return any(_is_own(alias.name, root) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or _is_own(node.module or "", root)
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Attribute) and _is_one(called.value, servers):
        return called.attr not in _STARTING
    starts = isinstance(called, ast.Attribute) and called.attr in ("run", "serve", "Config")
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return not starts and any(_is_one(value, servers) for value in given)


def _is_one(value: ast.expr, servers: set[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in servers


def _is_registered(node: Any) -> bool:
    decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(isinstance(each, ast.Attribute) and each.attr in _DECORATORS for each in decorators)


def _is_own(module: str, root: str) -> bool:
    """Whether the repository has it, and it isn't loaded yet."""
    if module in sys.modules:
        return False
    top = module.partition(".")[0]
    return any(
        os.path.exists(os.path.join(base, name))
        for base in (root, os.path.join(root, "src"))
        for name in (top, f"{top}.py")
    )
