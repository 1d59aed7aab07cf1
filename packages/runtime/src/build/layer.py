"""Finishes layers inside the build sandbox, with the platform's own interpreter (`-I`): none of the tenant's code runs.

    layer.py copy SOURCE TARGET         copy a tree, links as links
    layer.py code SOURCE TARGET SHOWN   the same, then compile it for a mount at SHOWN and seal it
    layer.py dependencies FOLDER JSON   make the project importable from a virtual environment, then seal it

The last two print one line of JSON: {"bytes": …, "files": …}.
"""

from __future__ import annotations

import compileall
import json
import os
import py_compile
import re
import shutil
import stat
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    action, folder, *more = arguments
    if action == "dependencies":
        add_project(Path(folder), json.loads(more[0]))
        print(json.dumps(seal(folder)))
        return 0
    target = more[0]
    shutil.copytree(folder, target, symlinks=True, dirs_exist_ok=True)
    if action == "code":
        compile_code(target, more[1])
        print(json.dumps(seal(target)))
    return 0


def compile_code(folder: str, shown: str) -> None:
    """Bytecode that is valid wherever and whenever the layer is copied: nothing compares times with it."""
    compileall.compile_dir(
        folder,
        maxlevels=64,
        # Errors are the server's own matter: its start names them with file and line.
        quiet=2,
        rx=re.compile(r"/(node_modules|\.git|\.venv|venv)/"),
        stripdir=folder,
        prependdir=shown,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def add_project(environment: Path, project: dict[str, object]) -> None:
    """The folders that packages are imported from, and the project's name and version for importlib.metadata."""
    site = environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    roots = project["roots"]
    assert isinstance(roots, list)
    if roots:
        (site / "_towpath_project.pth").write_text("".join(f"{root}\n" for root in roots), encoding="utf-8")
    name, version = project["name"], project["version"]
    if not isinstance(name, str) or not isinstance(version, str):
        return
    folder = site / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    if folder.exists():
        return
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (folder / "INSTALLER").write_text("towpath\n", encoding="utf-8")
    (folder / "RECORD").write_text("", encoding="utf-8")


def seal(folder: str) -> dict[str, int]:
    """Readable for all, writable for none, nothing set-user-id. The top folder stays as it is: it will be renamed."""
    total = files = 0
    for parent, folders, names in os.walk(folder, topdown=False):
        for name in names:
            path = os.path.join(parent, name)
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                continue
            if not stat.S_ISREG(found.st_mode):
                os.unlink(path)
                continue
            os.chmod(path, 0o555 if found.st_mode & 0o111 else 0o444)
            total += found.st_blocks * 512
            files += 1
        for name in folders:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555)
    return {"bytes": total, "files": files}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
