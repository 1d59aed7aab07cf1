"""Loads a Python MCP server from one file and serves it on a unix socket.

Run as `python -m towpath_runner --entrypoint server.py:mcp --socket PATH --status PATH` by the Python of the
server's own environment, in the server's directory. Only the standard library is needed until the server's file
has been loaded; uvicorn must be installed in the same environment.
"""
