import { expect } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { type Front, requestAt } from "./https-request.ts";
import { pauseMs } from "./streaming-server.ts";

/** Calls a tool of the server `streaming`, claiming another address than the one that the call comes from. */
export function callTool(front: Front, server: string, tool: "address" | "count", localAddress = "127.0.0.1") {
  const { method, headers, body } = modernCall(tool, {}, "Tests of HTTPS");
  const forged = { ...headers, "x-forwarded-for": "203.0.113.9" };
  return requestAt(front, `${server}/mcp`, { method, headers: forged, body, localAddress });
}

/** The events of a stream arrive one after the other, as the server sends them. */
export async function expectStreamed(front: Front, server: string): Promise<void> {
  const { pieces, text } = await callTool(front, server, "count");
  expect(text.match(/^data: /gm)).toHaveLength(3);
  const [first] = pieces;
  const last = pieces.findLast((piece) => piece.text.includes("counted"));
  expect(first?.text).not.toContain("counted");
  expect((last?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(1.5 * pauseMs);
}

/** The server learns the address that the call comes from, not the one that it claims. */
export async function expectAddress(front: Front, server: string): Promise<void> {
  expect((await callTool(front, server, "address", "127.0.0.7")).text).toContain('"result": "127.0.0.7"');
}
