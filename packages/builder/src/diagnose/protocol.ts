import type { Diagnosis } from "@towpath/core/build/contract";
import type { McpClientError } from "@towpath/mcp/client";
import { changeCode, diagnosis, seconds } from "../failure.ts";

const quoted = (lines: readonly string[]) => (lines.length === 0 ? null : lines.join("\n"));

/** The server runs, but the handshake failed. */
export function diagnoseProtocol(
  error: McpClientError,
  file: string,
  timeoutMs: number,
  lastLines: readonly string[],
): Diagnosis {
  if (error.code === "timeout") {
    return diagnosis(
      {
        code: "start_timeout",
        phase: "inspect",
        title: "The server started, but doesn't answer MCP",
        detail: `The handshake and the lists of tools, resources and prompts took longer than ${seconds(timeoutMs)}.`,
        remedy: `Look in ${file} for work that blocks: a lifespan or list handler must not wait for anything slow.`,
        action: changeCode,
      },
      { file, excerpt: quoted(lastLines) },
    );
  }
  const remedies: Partial<Record<McpClientError["code"], string>> = {
    not_found:
      "The app must serve MCP at /mcp: mount it there, or point the entrypoint at the MCP server instead of an app around it.",
    too_large: "Give tools and resources shorter descriptions and schemas, or list fewer of them.",
  };
  return diagnosis(
    {
      code: "protocol_error",
      phase: "inspect",
      title: "The server doesn't answer as an MCP server",
      detail:
        error.rpcCode === null
          ? error.message
          : `It answered the handshake with error ${error.rpcCode}: ${error.message}`,
      remedy:
        remedies[error.code] ??
        `Check what ${file} serves: the entrypoint must be an MCP server, or an app that serves MCP at /mcp.`,
      action: changeCode,
    },
    { file, excerpt: quoted(lastLines) },
  );
}
