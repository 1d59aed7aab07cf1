import { type SigningKeys, signUserJwt } from "@towpath/auth/credentials";
import { requireUser } from "@towpath/core/authorize";
import { authorizeCaller } from "@towpath/core/calling/access";
import type { Context } from "@towpath/core/context";
import { getBuildByDeployment, listBranchesWithDeployments } from "@towpath/core/delivery/deployment";
import { TowpathError } from "@towpath/core/errors";
import { readValuesToRedact } from "@towpath/core/projects/secret";
import type { Manifest } from "@towpath/mcp/manifest";
import { createBoundedRedactor, type Redactor } from "@towpath/secrets/redaction";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/** As the gateway does: see its `Redactors`. */
const maxRedactorBytes = 24 * 1024 * 1024;

/** The server that a question is about. */
export type ChatTarget = {
  readonly url: string;
  readonly project: string;
  readonly manifest: Manifest;
  readonly redactor: Redactor;
  /** The header that identifies the person, with a fresh token each time; null where Towpath doesn't check callers. */
  readonly authorization: () => Promise<string | null>;
};

/**
 * Finds a live deployment that the acting person may call, and the redactor of its secrets.
 *
 * @throws TowpathError `not_found`, `forbidden`; `conflict` for a deployment that isn't live any more or has no manifest
 */
export async function chatTarget(call: {
  ctx: Context<"secrets">;
  keys: SigningKeys;
  /** `authorization`: the person's own credentials for a passthrough server. Never stored. */
  input: ProjectKey & { readonly deploymentId: string; readonly authorization: string | null };
}): Promise<ChatTarget> {
  const { ctx, keys, input } = call;
  const { project } = await authorizeCaller(ctx, input);
  const branches = await listBranchesWithDeployments({ ctx, input });
  const live = branches.find(({ deployment }) => deployment?.id === input.deploymentId)?.deployment;
  if (!live) {
    throw new TowpathError(
      "conflict",
      "This version of the server is no longer live. Reload the page to chat with the new one.",
    );
  }
  const { manifest } = await getBuildByDeployment({ ctx, input });
  if (!manifest) throw new TowpathError("conflict", "The server's tools are unknown. Rebuild it.");
  const redactor = await createBoundedRedactor(await readValuesToRedact({ ctx, input }), maxRedactorBytes);
  if (!redactor) {
    throw new TowpathError(
      "conflict",
      "The server's environment variables are too large for Towpath to hide their values in chats.",
    );
  }
  const userId = requireUser(ctx);
  const authorization = async () => {
    if (project.authMode === "passthrough") return input.authorization;
    if (project.authMode !== "towpath-cloud") return null;
    return `Bearer ${(await signUserJwt(keys, { projectId: project.id, userId })).token}`;
  };
  return { url: live.url, project: project.name, manifest, redactor, authorization };
}
