/**
 * An MCP server without a framework, as a file of a repository: it offers `add` at the object `app`. For tests of
 * dependencies without FastMCP, which takes ten seconds to install.
 */
export const plainServer = `
import json

instructions = ""
schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def answer(message):
    if message["method"] == "initialize":
        info = {"name": "Plain", "version": "1"}
        asked = message["params"]["protocolVersion"]
        return {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": info, "instructions": instructions}
    if message["method"] == "tools/list":
        return {"tools": [{"name": "add", "description": "Adds.", "inputSchema": schema}]}


async def app(scope, receive, send):
    body = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if scope["type"] == "lifespan":
            await send({"type": event["type"] + ".complete"})
        if event["type"] == "lifespan.shutdown":
            return
        if event["type"] == "http.request" and not event.get("more_body"):
            break
    if scope["method"] != "POST":
        status, reply = 405, None
    else:
        message = json.loads(body)
        result = answer(message)
        error = {"code": -32601, "message": "Method not found"}
        reply = {"jsonrpc": "2.0", "id": message.get("id"), **({"error": error} if result is None else {"result": result})}
        status = 200 if "id" in message else 202
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode() if status == 200 else b""})
`;
