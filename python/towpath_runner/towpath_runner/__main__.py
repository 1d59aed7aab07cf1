"""Entry of `python -m towpath_runner`; guarded, because multiprocessing imports it again in spawned children."""

import os
import sys

if __name__ == "__main__":
    # `-m` puts the working directory first, where a server's own json.py or logging.py would shadow what we import; a
    # start by path (`python …/towpath_runner`) puts this directory there, whose modules nobody else may see.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) not in (here, os.getcwd())]
    if not __package__:
        sys.path.insert(0, os.path.dirname(here))

    from towpath_runner.main import main

    sys.exit(main(sys.argv[1:]))
