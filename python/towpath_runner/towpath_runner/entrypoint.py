"""Parses the entrypoint, and locates its file among the repository's packages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import entry_points

from towpath_runner.status import Failure


@dataclass(frozen=True)
class Entrypoint:
    """`root` is the repository's directory, `path` the file, both absolute; `name` the object or None.

    `program`, if it isn't a file: the name of a console script or of a module. `path` is then not the path of a file.
    """

    root: str
    path: str
    name: str | None
    program: str | None = None

    @property
    def shown(self) -> str:
        """For messages: the file's path relative to the repository, or the program."""
        return shown_path(self.path, self.root) if self.program is None else self.program


def shown_path(path: str, root: str) -> str:
    """`path` relative to `root` if it is below it, else unchanged."""
    return os.path.relpath(path, root) if path.startswith(root.rstrip(os.sep) + os.sep) else path


def parse_entrypoint(text: str, root: str) -> Entrypoint:
    """`file.py` or `file.py:object` (BLD-4), resolved against `root`; or a program (BLD-16): the name of a console
    script, `package` with a `__main__`, or `package.module:function`. Raises `entrypoint_not_found`.
    """
    file, colon, name = text.partition(":")
    if colon and not re.fullmatch(r"[^\W\d]\w*", name):
        raise Failure("entrypoint_not_found", f"`{name}` in `{text}` is not a Python identifier.", file=file)
    path = os.path.abspath(os.path.join(root, file))
    if _is_program(path, file, name):
        return Entrypoint(root=os.path.abspath(root), path=path, name=name or None, program=file)
    if os.path.isdir(path):
        raise Failure("entrypoint_not_found", f"`{file}` is a directory, not a Python file.", file=file)
    if not os.path.isfile(path):
        raise Failure("entrypoint_not_found", f"There is no file `{file}` in the repository.", file=file)
    if not path.endswith(".py"):
        raise Failure("entrypoint_not_found", f"`{file}` is not a Python file: its name must end in .py.", file=file)
    return Entrypoint(root=os.path.abspath(root), path=path, name=name or None)


def _is_program(path: str, text: str, name: str) -> bool:
    """A name without a file; or a directory's name that can also be run or imported, or is that of a console script."""
    if text.endswith(".py") or not re.fullmatch(r"\w[\w.-]*", text) or os.path.isfile(path):
        return False
    if not os.path.isdir(path) or os.path.isfile(os.path.join(path, "__init__.py" if name else "__main__.py")):
        return True
    return not name and bool(entry_points(group="console_scripts", name=text))


def package_of(entrypoint: Entrypoint) -> tuple[str, str]:
    """The directory to import from and the dotted name of the file's module there.

    Goes up while there is an `__init__.py`, so that relative imports work in `src/pkg/server.py`, but never above the
    repository, whose directory has another name in the sandbox.
    """
    directory, file = os.path.split(entrypoint.path)
    parts = [] if file == "__init__.py" else [file[: -len(".py")]]
    while directory != entrypoint.root and os.path.isfile(os.path.join(directory, "__init__.py")):
        directory, name = os.path.split(directory)
        parts.insert(0, name)
    return directory, ".".join(parts) or "__init__"
