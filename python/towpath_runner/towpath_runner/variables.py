"""Recognizes exceptions about environment variables that are not set."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Iterable
from types import FrameType
from typing import Any

#: Messages of servers that check their variables themselves; the names are known from the unset variables that they
#: looked up.
_SAYS_MISSING = re.compile(
    r"\b(not set|missing|required?|must (?:be|have|set|specify|provide)|not (?:been )?(?:provided|configured|found|defined|specified)|undefined|"
    r"no (?:\w+ ){0,3}(?:provided|found|set|specified|configured)|please (?:set|provide)|set the|unset|invalid|need)",
    re.IGNORECASE,
)
_ABOUT_SETTINGS = re.compile(
    r"token|key|secret|password|credential|variable|\benv|url|uri|host|config|account|region|user|path|director|"
    r"connection|project|domain",
    re.IGNORECASE,
)

#: Limit of guessed variables for a server that names none.
_MAX_GUESSED = 8

#: As in messages of openai, environs, python-decouple, starlette and most hand-written checks.
_MENTIONS_VARIABLES = re.compile(
    r"environment variable|env(ironment)? ?var\b|envvar|is missing, and has no default", re.I
)
_VARIABLE_NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")


def missing_variables(error: BaseException, frames: list[FrameType]) -> list[str]:
    """Names of the missing variables; empty if the exception is about something else.

    `frames` are those of the exception, outermost first.
    """
    return _from_environ(error, frames) or _from_settings(error, frames) or _from_text(error)


def variables_named(text: str, missed: Iterable[str]) -> list[str]:
    """Among the unset variables that the code looked up, those that `text`, an error or its output, names; if it names
    none, all of them if it reports a missing setting. Empty if it is about something else.
    """
    looked_up = list(missed)
    words = set(re.findall(r"\b[A-Za-z][A-Za-z0-9_]{2,}\b", text))
    # Messages often call `API_URL` api_url.
    words |= {word.upper() for word in words if "_" in word}
    named = [name for name in looked_up if name in words]
    if named:
        return named
    unset = [name for name in _VARIABLE_NAME.findall(text) if name not in os.environ]
    if unset and _SAYS_MISSING.search(text) and _MENTIONS_VARIABLES.search(text):
        return list(dict.fromkeys(unset))
    if not _SAYS_MISSING.search(text) or not _ABOUT_SETTINGS.search(text):
        return []
    # "Access token not set": the variables whose names contain one of its words, else all.
    parts = {word.upper() for word in words if len(word) > 3}
    likely = [name for name in looked_up if parts & set(name.split("_"))]
    return (likely or looked_up) if len(likely or looked_up) <= _MAX_GUESSED else []


def _from_environ(error: BaseException, frames: list[FrameType]) -> list[str]:
    """From `os.environ["NAME"]`: a KeyError raised by that mapping, not by any other dict."""
    if not isinstance(error, KeyError) or not frames or not error.args:
        return []
    code = frames[-1].f_code
    raised_by_environ = code.co_name == "__getitem__" and code.co_filename in (os.__file__, "<frozen os>")
    return [str(error.args[0])] if raised_by_environ else []


def also_required(error: BaseException, frames: list[FrameType]) -> list[str]:
    """The other unset variables that the file with the missing one requires in the same way. Otherwise each of them
    would cost another build.
    """
    if not _from_environ(error, frames) or len(frames) < 2:
        return []
    nodes: Iterable[ast.AST] = ()
    with contextlib.suppress(OSError, ValueError, SyntaxError), open(frames[-2].f_code.co_filename, "rb") as file:
        nodes = ast.walk(ast.parse(file.read()))
    reads = sorted(
        (node.lineno, node.slice.value)
        for node in nodes
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        and (node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")) == "environ"
    )
    unset = [name for _, name in reads if name not in os.environ and name != error.args[0]]
    return list(dict.fromkeys(unset))[:_MAX_GUESSED]


def _from_settings(error: BaseException, frames: list[FrameType]) -> list[str]:
    """From pydantic-settings: fields without a value, by the names of their variables, and those that a validator
    requires.
    """
    settings = next((found for frame in reversed(frames) if (found := _settings_class(frame)) is not None), None)
    errors = getattr(error, "errors", None)
    if settings is None or not callable(errors):
        return []
    items = errors()
    missing = [item["loc"] for item in items if item.get("type") == "missing" and item.get("loc")]
    # A validator of the class that requires one of several variables, and names them.
    refused = [str(item.get("msg")) for item in items if item.get("type") == "value_error"]
    named = [name for text in refused if _SAYS_MISSING.search(text) for name in _VARIABLE_NAME.findall(text)]
    unset = [name for name in named if name not in os.environ]
    return list(dict.fromkeys([*(_variable_of(settings, loc) for loc in missing), *unset]))


def _settings_class(frame: FrameType) -> Any:
    if not str(frame.f_globals.get("__name__", "")).startswith("pydantic_settings"):
        return None
    values: Iterable[Any] = frame.f_locals.values()
    return next((type(value) for value in values if hasattr(type(value), "settings_customise_sources")), None)


def _variable_of(settings: Any, loc: tuple[Any, ...]) -> str:
    config = settings.model_config
    first, *nested = [str(part) for part in loc]
    # A field with an alias is looked up and reported by its alias.
    named = first if first not in settings.model_fields else config.get("env_prefix", "") + first
    name = (config.get("env_nested_delimiter") or "__").join([named, *nested])
    return name if config.get("case_sensitive") else name.upper()


def _from_text(error: BaseException) -> list[str]:
    text = str(error)
    if not isinstance(error, Exception) or not _MENTIONS_VARIABLES.search(text):
        return []
    names = dict.fromkeys(_VARIABLE_NAME.findall(text))
    return [name for name in names if name not in os.environ]
