import { plainServer } from "../instance/plain-server.ts";

/** Milliseconds between two events of `count`. */
export const pauseMs = 400;

/**
 * Source of a server with the tools `address`, which returns the address of its caller, and `count`, which answers with
 * a stream of three events.
 */
export const streamingServer = `${plainServer({ address: 'headers["x-forwarded-for"]', count: '"as a stream"' })}

import asyncio

plain = mcp


async def mcp(scope, receive, send):
    if (b"mcp-name", b"count") not in scope.get("headers", []):
        return await plain(scope, receive, send)
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for at in range(3):
        message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": at}}
        if at == 2:
            message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "counted"}]}}
        event = f"event: message\\ndata: {json.dumps(message)}\\n\\n".encode()
        await send({"type": "http.response.body", "body": event, "more_body": at < 2})
        await asyncio.sleep(${pauseMs / 1000})
`;
