from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from environments import python_of
from harness import Harness

Start = Callable[..., Harness]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(files, entrypoint, environment)` writes the repository and starts the harness; the fixture ends it.

    Each start gets a new directory for socket and status, as from the runner, unless `directory` is given.
    """
    started: list[Harness] = []
    # Not below tmp_path: the path of a unix socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="tw") as base:

        def begin(
            files: dict[str, str] | str,
            entrypoint: str = "server.py",
            environment: str = "fastmcp4",
            directory: Path | None = None,
            arguments: Sequence[str] = (),
            **env: str,
        ) -> Harness:
            for path, text in ({"server.py": files} if isinstance(files, str) else files).items():
                target = tmp_path / "repo" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(textwrap.dedent(text))
            (tmp_path / "repo").mkdir(exist_ok=True)
            own = directory or Path(tempfile.mkdtemp(dir=base))
            harness = Harness(python_of(environment), tmp_path / "repo", entrypoint, own, env, arguments)
            started.append(harness)
            return harness

        yield begin
        for harness in started:
            harness.end()
