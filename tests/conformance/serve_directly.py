"""Serves the conformance server bare, with FastMCP's own server: the other side of the comparison."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "server"))

from server import mcp

mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
