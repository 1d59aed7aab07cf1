import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import type { McpClientError } from "@towpath/mcp/client";
import { changeCode, diagnosis, seconds } from "../failure.ts";
import type { ServerOutput } from "./limits.ts";

const remedies: Partial<Record<McpClientError["code"], string>> = {
  not_found:
    "The app must serve MCP at /mcp: mount it there, or point the entrypoint at the MCP server instead of an app around it.",
  too_large: "Give tools and resources shorter descriptions and schemas, or list fewer of them.",
};

/** The server runs, but the handshake failed. */
export function diagnoseProtocol(
  { code, message, rpcCode }: McpClientError,
  timeoutMs: number,
  { file, excerpt }: ServerOutput,
): Diagnosis {
  if (code === "timeout") {
    return diagnosis("inspect", "start_timeout", changeCode, {
      file,
      excerpt,
      title: "The server started, but doesn't answer MCP",
      detail: `The handshake and the lists of tools, resources and prompts took longer than ${seconds(timeoutMs)}.`,
      remedy: `Look in ${file} for work that blocks: a lifespan or list handler must not wait for anything slow.`,
    });
  }
  return diagnosis("inspect", "protocol_error", changeCode, {
    file,
    excerpt,
    title: "The server doesn't answer as an MCP server",
    detail: rpcCode === null ? message : `It answered the handshake with error ${rpcCode}: ${message}`,
    remedy:
      remedies[code] ??
      `Check what ${file} serves: the entrypoint must be an MCP server, or an app that serves MCP at /mcp.`,
  });
}
