/** Its requirements: without any, a build installs FastMCP. */
export const plainRequirements = "uvicorn\n";

/**
 * Source of an MCP server without a framework, the ASGI app `mcp`, for tests of the platform around a server. FastMCP
 * needs seconds of processor time to install and one for each start; other files test it.
 *
 * @param tools expressions in Python by the names of the tools, which take no arguments; `headers` are those of the call
 * @param before statements that run first
 */
export const plainServer = (tools: Readonly<Record<string, string>>, before = "") => `${before}
import json

tools = {
${Object.entries(tools)
  .map(([name, expression]) => `    "${name}": lambda headers: ${expression},`)
  .join("\n")}
}


def answer(method, params, headers):
    if method == "initialize":
        info = {"name": "Plain", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": "Answers.", "inputSchema": {"type": "object"}} for name in tools]}
    if method == "tools/call":
        text = tools[params["name"]](headers)
        return {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}


async def mcp(scope, receive, send):
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
    status, reply = 405, b""
    if scope["method"] == "POST":
        message = json.loads(body)
        status = 200 if "id" in message else 202
        if status == 200:
            sent = {name.decode(): value.decode() for name, value in scope["headers"]}
            result = answer(message["method"], message.get("params"), sent)
            error = {"code": -32601, "message": "Method not found"}
            outcome = {"error": error} if result is None else {"result": result}
            reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reply})
`;
