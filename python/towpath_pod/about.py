"""Prints as JSON what this image offers to builds, once, when the image is made."""

from __future__ import annotations

import glob
import json
import platform
import subprocess

_VERSION = "import platform; print(platform.python_version())"


def main() -> None:
    def output(*argv: str) -> str:
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    interpreters = glob.glob("/opt/python/bin/python3.[0-9]*[0-9]")
    versions = {output(path, "-I", "-c", _VERSION) for path in interpreters}
    newest_first = sorted(versions, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    about = {"pythons": newest_first, "uv": output("/opt/uv/uv", "--version"), "architecture": platform.machine()}
    print(json.dumps(about))


if __name__ == "__main__":
    main()
