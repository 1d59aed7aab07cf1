"""Loads a Python MCP server from one file and serves it on a unix socket.

Run it as `python -m towpath_runner --entrypoint server.py:mcp --socket PATH --status PATH` by the Python of the
server's own environment, in the server's directory. It needs only the standard library until the server's file has
been loaded, then uvicorn from the same environment.
"""
