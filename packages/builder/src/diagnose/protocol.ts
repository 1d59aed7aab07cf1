import type { Diagnosis } from "@towpath/core/build/contract";
import type { McpClientError } from "@towpath/mcp/client";
import { diagnosis } from "../failure.ts";

const seconds = (ms: number) => `${Math.round(ms / 1000)} seconds`;
const quoted = (lines: readonly string[]) => (lines.length === 0 ? null : lines.join("\n"));

/** Neither ready nor failed in time: most often something that never ends while the file is imported. */
export function diagnoseStartTimeout(file: string, timeoutMs: number, lastLines: readonly string[]): Diagnosis {
  return diagnosis(
    {
      code: "start_timeout",
      phase: "inspect",
      title: "The server did not start in time",
      detail: `${file} was still being loaded after ${seconds(timeoutMs)}. ${lastLines.length === 0 ? "It printed nothing." : "Its last lines are below."}`,
      remedy: `Look in ${file} for what waits or loops while it is imported (a connection, a download, \`while True\`), and move it into a tool or a lifespan.`,
    },
    { file, excerpt: quoted(lastLines) },
  );
}

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
        title: "The server started, but does not answer MCP",
        detail: `The handshake and the lists of tools, resources and prompts took longer than ${seconds(timeoutMs)}.`,
        remedy: `Look in ${file} for work that blocks: a lifespan or a list handler must not wait for something slow.`,
      },
      { file, excerpt: quoted(lastLines) },
    );
  }
  const remedies: Partial<Record<McpClientError["code"], string>> = {
    not_found:
      "The app must serve MCP at /mcp: mount it there, or let the entrypoint name the MCP server instead of an app around it.",
    too_large: "Give tools and resources shorter descriptions and schemas, or list fewer of them.",
  };
  return diagnosis(
    {
      code: "protocol_error",
      phase: "inspect",
      title: "The server does not answer as an MCP server",
      detail:
        error.rpcCode === null
          ? error.message
          : `It answered the handshake with error ${error.rpcCode}: ${error.message}`,
      remedy:
        remedies[error.code] ??
        `Check what ${file} serves: the entrypoint must name an MCP server or an app that serves MCP at /mcp.`,
    },
    { file, excerpt: quoted(lastLines) },
  );
}
