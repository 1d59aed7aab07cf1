"""Makes importable what the build made of the server's own files: Python runs this file at each start."""

import os
import site

_installed = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "installed")
if os.path.isdir(_installed):
    site.addsitedir(_installed)
