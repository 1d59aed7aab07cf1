"""Tracebacks without our own frames, and the place in them that the author can fix."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import traceback
from types import FrameType

from towpath_runner.entrypoint import shown_path

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep

#: Kept characters of a traceback, from its end.
_MAX_CHARACTERS = 16_000


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames from the outermost to the innermost, each with its line, without those of this package and importlib."""
    found = []
    step = error.__traceback__
    while step is not None:
        if not _hidden(step.tb_frame.f_code.co_filename):
            found.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return found


def place_of(error: BaseException, root: str) -> tuple[str | None, int | None]:
    """File and line of the innermost frame in the repository; if there is none, of the innermost frame."""
    places = [(frame.f_code.co_filename, line) for frame, line in frames_of(error)]
    own = [(path, line) for path, line in places if is_own(path, root)]
    if not places:
        return None, None
    path, line = (own or places)[-1]
    return shown_path(path, root), line


#: Directories and files of the installed package that is run, whose code counts as that of the repository.
_own_paths: list[str] = []


def count_as_own(module: str) -> None:
    """Counts the code of a top-level module as the repository's own, in any location."""
    spec = None
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is not None:
        _own_paths.extend(spec.submodule_search_locations or filter(None, [spec.origin]))


def is_own(path: str, root: str) -> bool:
    """Whether a file belongs to the repository, and not to a virtual environment inside its directory; or to the package
    that is run.
    """
    if any(path == own or path.startswith(own + os.sep) for own in _own_paths):
        return True
    # Names such as `<frozen os>` and `<string>` are not paths.
    inside = os.path.isabs(path) and path.startswith(root.rstrip(os.sep) + os.sep)
    return inside and f"{os.sep}site-packages{os.sep}" not in path and not path.startswith(sys.prefix + os.sep)


def trimmed(error: BaseException) -> str:
    """The traceback as Python prints it, with causes; at most 16,000 characters."""
    described = traceback.TracebackException.from_exception(error, compact=True)
    _trim(described)
    text = "".join(described.format())
    return text if len(text) <= _MAX_CHARACTERS else "…" + text[-_MAX_CHARACTERS:]


def _trim(described: traceback.TracebackException | None) -> None:
    if described is None:
        return
    described.stack = traceback.StackSummary.from_list(
        [frame for frame in described.stack if not _hidden(frame.filename)]
    )
    _trim(described.__cause__)
    _trim(described.__context__)
    for member in getattr(described, "exceptions", None) or []:
        _trim(member)


def _hidden(path: str) -> bool:
    importing = path.startswith("<frozen importlib") or f"{os.sep}importlib{os.sep}" in path
    return importing or path.startswith(_OURS) or path.startswith("<frozen runpy")
