from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import Harness

Start = Callable[..., Harness]


@contextmanager
def starting(repository: Path) -> Iterator[Start]:
    """`start(files, entrypoint, environment)` writes the repository and starts the harness, which ends with this.

    Each start gets a new directory for socket and status, as from the runner, unless `directory` is given.
    """
    started: list[Harness] = []
    # Not below pytest's directory: the path of a unix socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="tw") as base:

        def begin(
            files: dict[str, str] | str,
            entrypoint: str = "server.py",
            environment: str = "fastmcp4",
            directory: Path | None = None,
            arguments: Sequence[str] = (),
            is_prewarmed: bool = True,
            **env: str,
        ) -> Harness:
            for path, text in ({"server.py": files} if isinstance(files, str) else files).items():
                target = repository / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(textwrap.dedent(text))
            repository.mkdir(exist_ok=True)
            own = directory or Path(tempfile.mkdtemp(dir=base))
            harness = Harness(environment, repository, entrypoint, own, env, arguments, is_prewarmed)
            started.append(harness)
            return harness

        try:
            yield begin
        finally:
            for harness in started:
                harness.end()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the harness for one test."""
    with starting(tmp_path / "repo") as begin:
        yield begin
