"""Recognizes causes outside of the server's code: hosts, libraries, versions, places to write."""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.status import Failure
from towpath_runner.trace import frames_of, is_own

_SHARED_OBJECT = re.compile(r"\b(lib[\w.+-]+\.so(?:\.\d+)*): cannot open shared object file")
_NO_LIBRARY = re.compile(r"(?:no library called|cannot load library|Could not find|Unable to find) ['\"]?(lib[\w.+-]+|[\w.+-]+\.so[\w.]*)")
_NAME_NOT_RESOLVED = re.compile(
    r"Name or service not known|Temporary failure in name resolution|nodename nor servname|No address associated|"
    r"Failed to resolve|getaddrinfo failed|Network is unreachable|Max retries exceeded|All connection attempts failed|"
    r"Cannot connect to host|Connection refused|Connect call failed|ConnectError|offline mode|couldn't connect to",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"host='([\w.-]+)'|Failed to resolve '([\w.-]+)'|Cannot connect to host ([\w.-]+)|https?://([\w.-]+)|"
    r"lookup ([\w.-]+\.[a-z]{2,})|Connect call failed \('([\w.:]+)'"
)
_DOWNLOAD = re.compile(r"(?:load|download|fetch|find)\w*\b.{0,40}\b(model|dataset|data|weights|tokenizer|corpus|resource)", re.I)
_KEYWORD = re.compile(
    r"(\w+)(?:\.(\w+))?\(\) (?:got an unexpected keyword argument|no longer accepts) ['`](\w+)['`]"
)
_UNIMPORTABLE = re.compile(r"cannot import name '([\w.]+)' from '([\w.]+)'")

_FRAMEWORKS = ("fastmcp", "mcp")
_SERVER_CLASSES = ("FastMCP", "MCPServer", "Server", "MCPApp")


def host_unreachable(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    texts = [str(each) for each in _chain(error)]
    found = next((each for each in _chain(error) if _NAME_NOT_RESOLVED.search(str(each))), None)
    if found is None:
        return None
    hosts = [next(filter(None, match.groups())) for text in texts for match in _HOST.finditer(text)]
    host = hosts[0] if hosts else next(filter(None, map(_requested_host, _chain(error))), None)
    host = host or next(filter(None, map(_looked_up_host, _chain(error))), None)
    what = next((match for text in texts if (match := _DOWNLOAD.search(text))), None)
    purpose = f" to download a {what.group(1).lower()}" if what and what.group(1).lower() in ("model", "dataset") else ""
    where = f"`{host}`" if host else "a host"
    # An exit doesn't say why.
    shown = found if isinstance(error, SystemExit) else error
    message = f"While it starts, the server connects to {where}{purpose}, which can't be reached from here: {first_line(shown)}"
    return Failure("host_unreachable", message, module=host)


def _requested_host(error: BaseException) -> str | None:
    """The host of the request in an exception of httpx, whose text lacks it."""
    try:
        host = error.request.url.host  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        return None
    return host if isinstance(host, str) else None


#: Functions of the standard library that look up a host or connect to it, and their variables with its name.
_CONNECTING = frozenset(("getaddrinfo", "create_connection", "gethostbyname", "do_open"))
_HOLDING = ("host", "address", "hostname", "req")


def _looked_up_host(error: BaseException) -> str | None:
    """The host of the function that failed, for errors such as `URLError`, whose text lacks it."""
    step, found = error.__traceback__, None
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_name in _CONNECTING and not code.co_filename.startswith("<"):
            for held in map(step.tb_frame.f_locals.get, _HOLDING):
                name = held[0] if isinstance(held, tuple) and held else getattr(held, "host", held)
                found = name.partition(":")[0] if isinstance(name, str) and name else found
        step = step.tb_next
    return found


def program_missing(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """A program of the operating system, run in another process."""
    for each in _chain(error):
        if not isinstance(each, (FileNotFoundError, PermissionError)) or not isinstance(each.filename, str):
            continue
        step = each.__traceback__
        while step is not None and step.tb_next is not None:
            step = step.tb_next
        # The working directory for it may be missing instead.
        is_start = step is not None and step.tb_frame.f_code.co_name == "_execute_child"
        if step is not None and is_start and str(step.tb_frame.f_locals.get("cwd")) != each.filename:
            message = f"While it starts, the server runs the program `{each.filename}`, which isn't installed here."
            return Failure("program_missing", message, module=each.filename)
    return None


def native_library_missing(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    for each in _chain(error):
        found = _SHARED_OBJECT.search(str(each)) or (_NO_LIBRARY.search(str(each)) if isinstance(each, OSError) else None)
        if found is not None:
            message = f"The library `{found.group(1)}` of the operating system isn't installed: {first_line(each)}"
            return Failure("native_library_missing", message, module=found.group(1))
    return None


def read_only(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    for each in _chain(error):
        if isinstance(each, OSError) and each.errno == errno.EROFS:
            place = f"`{each.filename}`" if each.filename else "a place"
            return Failure("read_only", f"The server writes to {place}, which is read-only.", module=each.filename)
    return None


def keyword_removed(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """An argument of FastMCP or MCPServer, or of its methods, that the installed release doesn't accept."""
    found = _KEYWORD.search(str(error)) if isinstance(error, TypeError) else None
    if found is None or found.group(1) not in _SERVER_CLASSES:
        return None
    called, method, keyword = found.groups()
    package = _package_of(error, entrypoint, called)
    if package is None:
        return None
    name = called if method in (None, "__init__") else f"{called}.{method}"
    advice = str(error).partition("Pass ")[2]
    hint = f" Its own advice: pass {advice}" if advice else ""
    message = f"The code passes `{keyword}` to `{name}`, which {package} {version(package)} doesn't take.{hint}"
    return Failure("keyword_removed", message, module=package, candidates=[keyword, version(package)])


def dependency_mismatch(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """An installed package needs a name that another installed package has removed, or doesn't have yet."""
    found = _UNIMPORTABLE.search(str(error)) if isinstance(error, ImportError) else None
    if found is None:
        return None
    name, module = found.groups()
    wanting = next((str(frame.f_globals.get("__name__", "")) for frame, _ in reversed(frames_of(error))), "")
    packages = packages_distributions()
    needs, has = (next(iter(packages.get(each.partition(".")[0], [])), None) for each in (wanting, module))
    if needs is None or has is None or needs == has:
        return None
    message = (
        f"{needs} {version(needs)} doesn't work with {has} {version(has)}, which is installed: "
        f"it imports `{name}` from `{module}`."
    )
    return Failure("dependency_mismatch", message, module=has, candidates=[needs, has])


def installed_owner(module: str) -> str | None:
    """Name and version of the installed package that contains the nearest installed parent of the missing module."""
    parent = module.rpartition(".")[0]
    if parent.partition(".")[0] not in sys.modules:
        return None
    names = packages_distributions().get(module.partition(".")[0], [])
    return f"{names[0]} {version(names[0])}" if len(names) == 1 else None


def _package_of(error: BaseException, entrypoint: Entrypoint, called: str) -> str | None:
    """The framework whose class refuses the argument: by the frame that raises, else by the imports of the server's own
    code.
    """
    frames = [frame for frame, _ in frames_of(error)]
    for frame in reversed(frames):
        if not is_own(frame.f_code.co_filename, entrypoint.root):
            top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            if top in _FRAMEWORKS:
                return top
            continue
        top = str(getattr(frame.f_globals.get(called), "__module__", "")).partition(".")[0]
        return top if top in _FRAMEWORKS else None
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and what caused it."""
    seen: set[int] = set()
    waiting = [error]
    while waiting and len(seen) < 30:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        members = getattr(each, "exceptions", None)
        more = [each.__cause__, each.__context__, *(members if isinstance(members, tuple) else ())]
        waiting.extend(other for other in more if isinstance(other, BaseException))


def first_line(error: BaseException) -> str:
    """Type and first line of an error."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
