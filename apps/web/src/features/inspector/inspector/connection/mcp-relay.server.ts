import { authorizeCaller } from "@towpath/core/calling/access";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { isSameOrigin, readBody } from "~/http/request.server.ts";
import { relay } from "~/http/streams/relay.server.ts";
import { streamReader } from "~/http/streams/stream-reader.server.ts";
import { callTarget } from "./call-target.server.ts";
import { authorizationHeader } from "./relay.schema.ts";

/** As the gateway's limit. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Headers of MCP's transport; no others of the page's requests reach a server. */
const sentHeaders = ["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id", "mcp-method"];
const sentPrefixes = ["mcp-name", "mcp-param-"];
const readHeaders = ["content-type", "mcp-session-id", "mcp-protocol-version", "towpath-request-id", "retry-after"];

const whereSchema = z.object({
  branchId: z.uuid().nullable(),
  authorization: z
    .string()
    .max(8192)
    .regex(/^[\x20-\x7e]*$/, "Only printable ASCII")
    .nullable(),
});

/**
 * POST, GET and DELETE /api/projects/{orgSlug}/{projectName}/mcp: MCP's Streamable HTTP transport for the pages of a
 * project, whose site differs from its servers'. Relays each request to the server's public URL as the person's own
 * (`branchId`: the branch, default production). The browser speaks the protocol and holds the session, so any web
 * process can relay any request.
 *
 * @throws TowpathError as `callTarget`; `forbidden` for other sites, `upstream_unavailable` when the gateway doesn't answer
 */
export async function mcpRelay(project: ProjectKey, request: Request): Promise<Response> {
  const { config, signingKeys } = services();
  if (!isSameOrigin(request, config.baseUrl)) throw new TowpathError("forbidden", "Forbidden: not from this site.");
  const reader = await streamReader(request, (ctx) => authorizeCaller(ctx, project));
  const where = parseInput(whereSchema, {
    branchId: new URL(request.url).searchParams.get("branchId"),
    authorization: request.headers.get(authorizationHeader),
  });
  const target = await callTarget({ ctx: reader.ctx, keys: signingKeys, input: { ...project, ...where } });
  const body = request.method === "POST" ? await readBody(request, maxBodyBytes) : null;
  const headers = { ...headersOf(request), ...target.headers };
  return relay(
    request,
    reader,
    (signal) => send(target.url, { method: request.method, headers, body, signal }),
    readHeaders,
  );
}

function headersOf(request: Request): Record<string, string> {
  const isSent = (name: string) => sentHeaders.includes(name) || sentPrefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries([...request.headers].filter(([name]) => isSent(name)));
}

type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly signal: AbortSignal;
};

async function send(url: string, { body, ...request }: Sent): Promise<Response> {
  try {
    return await fetch(url, { ...request, body: body && new Uint8Array(body), redirect: "manual" });
  } catch (error) {
    throw new TowpathError("upstream_unavailable", "The server can't be reached. Try again in a moment.", {
      cause: error,
    });
  }
}
