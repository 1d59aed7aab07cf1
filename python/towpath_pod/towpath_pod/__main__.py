"""`python3 -I …/towpath_pod PROGRAM`: one of the programs below, each in a container of its own."""

import os
import sys

# Isolated mode leaves only this directory on the path, where modules would have other names.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main(program: str) -> int:
    if program == "fetch":
        from towpath_pod.fetch import fetch

        return fetch()
    if program == "serve":
        from towpath_pod.serve import serve

        return serve()
    if program == "probe":
        from towpath_pod.probe import probe

        return probe()
    raise SystemExit(f"towpath_pod: there is no program {program}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
