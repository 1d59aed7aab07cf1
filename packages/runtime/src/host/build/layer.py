"""Finishes layers inside the build sandbox. The platform's own interpreter runs it with `-I`: no tenant code runs.

    layer.py copy SOURCE TARGET            copy a tree, links as links
    layer.py code SOURCE TARGET MOUNT      the same, then compile it for the path MOUNT and seal it
    layer.py dependencies DIRECTORY JSON CACHE
                                           compile a virtual environment, make the project importable from it, seal it
    layer.py offers DIRECTORY PACKAGE      what a package in a virtual environment has, as one line of JSON: {"starts": …, "mcp": …}

Those that seal print one line of JSON: {"bytes": …, "files": …}.
"""

from __future__ import annotations

import compileall
import contextlib
import hashlib
import importlib.util
import json
import os
import py_compile
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path


def main(arguments: list[str]) -> int:
    action, directory, *more = arguments
    if action == "dependencies":
        project, cache = more
        compile_dependencies(Path(directory), Path(cache) / "bytecode")
        add_project(Path(directory), json.loads(project))
        print(json.dumps(seal(directory)))
        return 0
    if action == "offers":
        print(json.dumps(offers(Path(directory), more[0])))
        return 0
    target = more[0]
    copy_into(directory, target)
    if action == "code":
        compile_code(target, more[1])
        print(json.dumps(seal(target)))
    return 0


def copy_into(directory: str, target: str) -> None:
    """Copies what a directory has. Leaves `target` itself alone, which may be another user's."""
    with os.scandir(directory) as entries:
        for entry in entries:
            copy = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False):
                shutil.copytree(entry.path, copy, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(entry.path, copy, follow_symlinks=False)


#: However MCP is spoken: as the builder looks for it in repositories.
_OF_MCP = re.compile(rb"mcp|model[ _-]?context[ _-]?protocol|json[ _-]?rpc|tools/list", re.IGNORECASE)


def offers(environment: Path, package: str) -> dict[str, bool]:
    """Whether a package may have something that can be started, and anything related to MCP; true if unsure. It may
    also only re-export the program of the one package that it requires.
    """
    site = next(environment.glob("lib/python*/site-packages"))
    plain = re.compile(r"[-_.]+")
    name = plain.sub("-", package).lower()
    found = next(
        (each for each in distributions(path=[str(site)]) if plain.sub("-", each.metadata["Name"]).lower() == name), None
    )
    files = [] if found is None else [str(file) for file in found.files or []]
    if found is None or not files:
        return {"starts": True, "mcp": True}
    required = [text for text in found.requires or [] if not re.search(r";.*\bextra\b", text)]
    modules = [file for file in files if re.fullmatch(r"[^/]+\.py|(.*/)?__main__\.py", file)]
    starts = bool(modules) or len(required) == 1 or any(each.group == "console_scripts" for each in found.entry_points)
    code = [file for file in files if ".dist-info/" not in file and not file.endswith(".pyc")]
    return {"starts": starts, "mcp": any(not file.endswith(".py") or _mentions_mcp(site / file) for file in code)}


def _mentions_mcp(path: Path) -> bool:
    try:
        return _OF_MCP.search(path.read_bytes()) is not None
    except OSError:
        return True


def compile_code(directory: str, mount: str) -> None:
    """Compiles to bytecode that stays valid when the layer is copied: it is not checked against the source."""
    compileall.compile_dir(
        directory,
        maxlevels=64,
        # Ignore errors: the server's start reports them with file and line.
        quiet=2,
        rx=re.compile(r"/(node_modules|\.git|\.venv|venv)/"),
        stripdir=directory,
        prependdir=mount,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def compile_dependencies(environment: Path, cache: Path) -> None:
    """Compiles all modules, like `compile_code`. Reuses the bytecode that an earlier build of the organization compiled
    from the same source for the same path: compiling takes four fifths of an installation whose packages are in uv's
    cache.
    """
    sources = sorted(source for site in environment.glob("lib/python*/site-packages") for source in modules_in(site))
    workers = min(8, len(os.sched_getaffinity(0)))
    processes = []
    for worker in range(workers):
        process = os.fork()
        if process == 0:
            for source in sources[worker::workers]:
                # Ignore errors: a module's import reports them, and a full disk ends the build elsewhere.
                with contextlib.suppress(OSError, ValueError, RecursionError, MemoryError):
                    compile_module(source, cache)
            os._exit(0)
        processes.append(process)
    for process in processes:
        # Nothing depends on bytecode: modules that a killed process left uncompiled are compiled when they are
        # imported.
        os.waitpid(process, 0)


def modules_in(directory: Path) -> Iterator[str]:
    for parent, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".py"):
                yield f"{parent}/{name}"


def compile_module(source: str, cache: Path) -> None:
    """Skips modules that a package ships compiled, and invalid sources."""
    target = importlib.util.cache_from_source(source)
    if os.path.lexists(target):
        return
    with open(source, "rb") as file:
        content = file.read()
    tag = sys.implementation.cache_tag or "python"
    digest = hashlib.blake2b(source.encode() + b"\0" + content, digest_size=20).hexdigest()
    known = cache / tag / digest[:2] / digest
    if take_over(str(known), target):
        return
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if py_compile.compile(source, target, quiet=2, invalidation_mode=unchecked) is None:
        return
    known.parent.mkdir(parents=True, exist_ok=True)
    partial = known.with_name(f"{digest}.{os.getpid()}")
    shutil.copyfile(target, partial)
    partial.rename(known)


def take_over(known: str, target: str) -> bool:
    """Copies an earlier build's bytecode with its final permissions: there are thousands of files, and each call
    counts.
    """
    try:
        opened = os.open(known, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with open(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return False
        bytecode = file.read()
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.dirname(target))
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444), "wb") as file:
        file.write(bytecode)
    return True


def add_project(environment: Path, project: dict[str, object]) -> None:
    """Adds the directories to import from, and the project's name, version and scripts for importlib.metadata."""
    site = environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    roots = project["roots"]
    assert isinstance(roots, list)
    if roots:
        (site / "_towpath_project.pth").write_text("".join(f"{root}\n" for root in roots), encoding="utf-8")
    name, version = project["name"], project["version"]
    if not isinstance(name, str) or not isinstance(version, str):
        return
    metadata = site / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    if metadata.exists():
        return
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (metadata / "INSTALLER").write_text("towpath\n", encoding="utf-8")
    scripts = project.get("scripts")
    if isinstance(scripts, dict):
        lines = [f"{script} = {target}\n" for script, target in scripts.items()]
        (metadata / "entry_points.txt").write_text("[console_scripts]\n" + "".join(lines), encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")


def seal(directory: str) -> dict[str, int]:
    """Makes all readable, nothing writable or set-user-id. Leaves `directory` itself alone: it will be renamed."""
    total = files = 0
    for parent, directories, names in os.walk(directory, topdown=False):
        for name in names:
            path = os.path.join(parent, name)
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                continue
            if not stat.S_ISREG(found.st_mode):
                os.unlink(path)
                continue
            sealed = 0o555 if found.st_mode & 0o111 else 0o444
            if stat.S_IMODE(found.st_mode) != sealed:
                os.chmod(path, sealed)
            total += found.st_blocks * 512
            files += 1
        for name in directories:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555)
    return {"bytes": total, "files": files}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
