"""Loads a Python MCP server from one file and serves it to the platform, on a unix socket or a port.

Run it as `python -m towpath_runner --entrypoint server.py:mcp --listen ADDRESS --status PATH` by the Python of the
server's own environment, in the server's directory, with the secret of the instance on standard input. It needs only
the standard library until the server's file has been loaded, then uvicorn from the same environment.
"""
