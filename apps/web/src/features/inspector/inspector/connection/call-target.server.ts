import { callerNameHeader, type SigningKeys, signCallerName, signUserJwt } from "@towpath/auth/credentials";
import { requireUser } from "@towpath/core/authorize";
import { authorizeCaller } from "@towpath/core/calling/access";
import type { Context } from "@towpath/core/context";
import { listBranchesWithDeployments } from "@towpath/core/delivery/deployment";
import { notFound } from "@towpath/core/errors";
import { mcpUrl } from "@towpath/core/projects/server-url";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/** The URL and headers of a person's calls. */
export type CallTarget = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/**
 * The public URL of a branch's server, where calls are policed and logged like every other client's, and the person's
 * credentials, or if the server checks none, their name for its log (PRJ-4).
 *
 * @throws TowpathError `not_found` for another's project or a branch without a live deployment, `forbidden` for a role
 *   that may not call this server
 */
export async function callTarget(call: {
  ctx: Context;
  keys: SigningKeys;
  input: ProjectKey & {
    /** Null: production. */
    readonly branchId: string | null;
    /** For passthrough servers, which authenticate callers themselves. Forwarded, never stored. */
    readonly authorization: string | null;
  };
}): Promise<CallTarget> {
  const { ctx, input } = call;
  const { project } = await authorizeCaller(ctx, input);
  return { url: await urlOf(ctx, input, project), headers: await credentials(call, project) };
}

/** The branch's URL; a server that isn't built here has no branches. */
async function urlOf(
  ctx: Context,
  input: ProjectKey & { readonly branchId: string | null },
  project: { name: string; kind: string },
): Promise<string> {
  if (project.kind !== "hosted") return mcpUrl(ctx.serverUrlTemplate, project.name.toLowerCase());
  const branches = await listBranchesWithDeployments({ ctx, input });
  const branch = branches.find((each) => (input.branchId ? each.id === input.branchId : each.isDefault));
  if (!branch?.deployment) throw notFound("live deployment on this branch");
  return branch.deployment.url;
}

async function credentials(
  { ctx, keys, input }: { ctx: Context; keys: SigningKeys; input: { readonly authorization: string | null } },
  { id, authMode }: { id: string; authMode: string },
): Promise<Record<string, string>> {
  // Neither token ever leaves this process and the gateway.
  const caller = { projectId: id, userId: requireUser(ctx) };
  if (authMode === "towpath-cloud") {
    return { authorization: `Bearer ${(await signUserJwt(keys, caller)).token}` };
  }
  const name = { [callerNameHeader]: await signCallerName(keys, caller) };
  return authMode === "passthrough" && input.authorization ? { ...name, authorization: input.authorization } : name;
}
