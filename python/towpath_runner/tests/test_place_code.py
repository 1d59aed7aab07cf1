"""The server's code is a copy that it may change (BLD-19)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from towpath_runner import place_code as module
from towpath_runner.place_code import place_code


def make_layer(directory: Path) -> Path:
    layer = directory / "layer"
    (layer / "pkg" / "data").mkdir(parents=True)
    (layer / "empty").mkdir()
    (layer / "server.py").write_text("import pkg\n")
    (layer / "run.sh").write_text("#!/bin/sh\n")
    (layer / "pkg" / "__init__.py").write_text("")
    (layer / "pkg" / "data" / "words.db").write_bytes(b"w" * 5000)
    (layer / "pkg" / "link").symlink_to("data/words.db")
    (layer / "broken").symlink_to("/nowhere")
    for path in (layer / "server.py", layer / "pkg" / "data" / "words.db"):
        path.chmod(0o444)
    (layer / "run.sh").chmod(0o555)
    return layer


@pytest.fixture
def target(tmp_path: Path) -> Path:
    target = tmp_path / "target"
    target.mkdir()
    return target


def tree(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def test_BLD_19_everything_is_a_copy_that_its_owner_may_change(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = make_layer(tmp_path)
    place_code(str(layer), str(target))
    assert tree(target) == tree(layer)
    words = target / "pkg" / "data" / "words.db"
    assert words.read_bytes() == b"w" * 5000
    assert (os.readlink(target / "pkg" / "link"), os.readlink(target / "broken")) == ("data/words.db", "/nowhere")
    assert [oct((target / name).stat().st_mode & 0o777) for name in ("server.py", "run.sh")] == ["0o644", "0o755"]
    words.write_bytes(b"changed")
    (target / "pkg" / "server.log").write_text("beside the source")
    assert (layer / "pkg" / "data" / "words.db").read_bytes() == b"w" * 5000
    assert "pkg/server.log" not in tree(layer)
    assert capsys.readouterr().out == ""


def test_BLD_19_of_code_that_is_too_large_outer_files_come_first_and_the_rest_can_be_read(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = make_layer(tmp_path)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    monkeypatch.setattr(module, "MAX_ENTRIES", 9)
    place_code(str(layer), str(target))
    assert (target / "server.py").stat().st_mode & 0o200
    # Too large for what is left: it can be read, and replaced.
    words = target / "pkg" / "data" / "words.db"
    assert words.is_symlink() and words.read_bytes() == b"w" * 5000
    words.unlink()
    words.write_bytes(b"new")
    assert (layer / "pkg" / "data" / "words.db").read_bytes() == b"w" * 5000
    assert "1 of its files and directories can't be changed in place" in capsys.readouterr().out


def test_BLD_19_a_directory_with_too_many_files_is_a_link_as_a_whole(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = make_layer(tmp_path)
    monkeypatch.setattr(module, "MAX_ENTRIES", 7)
    place_code(str(layer), str(target))
    assert (target / "pkg").is_symlink()
    assert (target / "pkg" / "data" / "words.db").read_bytes() == b"w" * 5000
    (target / "server.log").write_text("beside the source")


def test_BLD_19_modules_of_the_copy_can_be_imported_although_they_appeared_after_the_start(
    tmp_path: Path, target: Path
) -> None:
    layer = make_layer(tmp_path)
    code = "\n".join(
        [
            "import sys",
            f"sys.path.insert(0, {str(target)!r})",
            "try:",
            "    import pkg",
            "except ImportError:",
            "    from towpath_runner.place_code import place_code",
            f"    place_code({str(layer)!r}, {str(target)!r})",
            "    import pkg",
            "    print(pkg.__file__)",
        ]
    )
    root = Path(module.__file__).parent.parent
    printed = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == str(target / "pkg" / "__init__.py")
