"""Entry of `python -m towpath_runner`; guarded, because multiprocessing imports it again in spawned children."""

import os
import sys

if __name__ == "__main__":
    # `-m` puts the working folder first, where a server's own json.py or logging.py would shadow what we import.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]

    from towpath_runner.main import main

    sys.exit(main(sys.argv[1:]))
