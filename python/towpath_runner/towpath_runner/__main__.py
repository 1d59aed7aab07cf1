"""Entry point of `python -m towpath_runner`. Guarded: multiprocessing imports it again in spawned children."""

import os
import sys

if __name__ == "__main__":
    # `-m` puts the working directory first, where a server's own json.py or logging.py would shadow the real one.
    # A start by path (`python …/towpath_runner`) puts this directory there, and its modules would shadow others.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) not in (here, os.getcwd())]
    if not __package__:
        sys.path.insert(0, os.path.dirname(here))

    if sys.argv[1:2] == ["--prewarm-status"]:
        from towpath_runner.prewarm import prewarm

        exit_status = prewarm(*sys.argv[2:4])
    else:
        from towpath_runner.main import is_open, main
        from towpath_runner.secret import read_secret

        exit_status = main(sys.argv[1:], None if is_open(sys.argv[1:]) else read_secret())

    from towpath_runner.end import end_process

    end_process(exit_status)
