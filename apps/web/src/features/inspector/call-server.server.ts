import { type SigningKeys, signUserJwt } from "@towpath/auth/credentials";
import { authorizeCaller } from "@towpath/core/access";
import { requireUser } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { listBranchesWithDeployments } from "@towpath/core/deployment";
import { notFound } from "@towpath/core/errors";
import { mcpUrl } from "@towpath/core/server-url";
import { type McpClient, McpClientError, openClient } from "@towpath/mcp/client";
import type { CallResult, CallServerInput, ServerCall } from "./inspector.schema.ts";

const timeoutMs = 120_000;
const maxBytes = 8 * 1024 * 1024;

/**
 * Makes one call to a project's server through the public gateway, as any client would, so that it is policed and
 * logged like every other call (PRJ-4). It is made as the user: private servers and the log see who calls.
 *
 * @throws TowpathError `not_found` for another's project or a branch without a live deployment, `forbidden` for a role
 *   that may not call this server. A failed call is returned, not thrown.
 */
export async function callServer(call: {
  ctx: Context;
  keys: SigningKeys;
  signal: AbortSignal;
  input: CallServerInput;
}): Promise<CallResult> {
  const { ctx, input } = call;
  const { project } = await authorizeCaller(ctx, input);
  const url = await urlOf(ctx, input, project);
  const headers = await credentials(call, project);
  const started = performance.now();
  let client: McpClient | null = null;
  try {
    client = await openClient({ url, headers }, { timeoutMs, maxBytes, signal: call.signal });
    const connectMs = performance.now() - started;
    return { ok: true, ...(await perform(client, input.call)), connectMs };
  } catch (error) {
    if (!(error instanceof McpClientError)) throw error;
    return { ok: false, code: error.code, rpcCode: error.rpcCode, message: error.message };
  } finally {
    await client?.close();
  }
}

/** Of the branch that is asked for; a server that isn't built here has none. */
async function urlOf(ctx: Context, input: CallServerInput, project: { name: string; kind: string }): Promise<string> {
  if (project.kind !== "hosted") return mcpUrl(ctx.serverUrlTemplate, project.name.toLowerCase());
  const branches = await listBranchesWithDeployments({ ctx, input });
  const branch = branches.find((each) => (input.branchId ? each.id === input.branchId : each.isDefault));
  if (!branch?.deployment) throw notFound("live deployment on this branch");
  return branch.deployment.url;
}

async function credentials(
  call: { ctx: Context; keys: SigningKeys; input: CallServerInput },
  project: { id: string; authMode: string },
): Promise<Record<string, string>> {
  if (project.authMode === "passthrough" && call.input.authorization) {
    return { authorization: call.input.authorization };
  }
  if (project.authMode !== "towpath-cloud") return {};
  // Long enough for one call; the token never leaves this process and the gateway.
  const { token } = await signUserJwt(call.keys, { projectId: project.id, userId: requireUser(call.ctx) });
  return { authorization: `Bearer ${token}` };
}

function perform(client: McpClient, call: ServerCall) {
  if (call.kind === "tool") return client.callTool(call.name, call.arguments);
  if (call.kind === "resource") return client.readResource(call.uri);
  return client.getPrompt(call.name, call.arguments);
}
