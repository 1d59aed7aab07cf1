import { equalInConstantTime, hmacSha256, randomToken } from "@towpath/crypto";
import { gitSource, project } from "@towpath/db/schema";
import { findDataKey, openSourceSecret, sealSourceSecret } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { requireUrlSource } from "./git-source.store.ts";
import { type GitSourceView, gitSourceView } from "./git-source.view.ts";

/**
 * Makes the secret with which a Git host signs its webhooks, in place of an earlier one (SRC-2).
 *
 * @returns the secret, which is shown this once
 * @throws TowpathError `not_found`, `conflict` for a project with another source
 */
export async function makeSourceWebhookSecret({
  ctx,
  input,
}: Call<ProjectScope, "secrets">): Promise<{ readonly secret: string; readonly source: GitSourceView }> {
  const { project: of, organization } = await authorizeProject(ctx, "project.update", input);
  const box = ctx.secrets;
  const secret = randomToken();
  return ctx.db.transaction(async (tx) => {
    const before = await requireUrlSource(tx, of.id);
    const owner = { purpose: "webhook", organizationId: organization.id, projectId: of.id } as const;
    const [row] = await tx
      .update(gitSource)
      .set({ webhookSecretCiphertext: await sealSourceSecret(tx, box, owner, secret), webhookAt: null })
      .where(eq(gitSource.projectId, of.id))
      .returning();
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: of.id,
      action: "source.makeWebhookSecret",
      subject: of.name,
    });
    return { secret, source: gitSourceView(ctx, of, { ...before, ...row, url: before.url }) };
  });
}

/** Removes it: webhooks are refused from then on, and the repository is only asked. */
export async function removeSourceWebhookSecret({ ctx, input }: Call<ProjectScope>): Promise<GitSourceView> {
  const { project: of, organization } = await authorizeProject(ctx, "project.update", input);
  return ctx.db.transaction(async (tx) => {
    const before = await requireUrlSource(tx, of.id);
    const [row] = await tx
      .update(gitSource)
      .set({ webhookSecretCiphertext: null, webhookAt: null })
      .where(eq(gitSource.projectId, of.id))
      .returning();
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: of.id,
      action: "source.removeWebhookSecret",
      subject: of.name,
    });
    return gitSourceView(ctx, of, { ...before, ...row, url: before.url });
  });
}

export type SourceWebhook = {
  readonly projectId: string;
  readonly headers: Pick<Headers, "get">;
  readonly rawBody: Uint8Array;
};

/**
 * Takes a webhook of GitHub, Gitea, GitLab or Bitbucket: checks its signature, and has the repository asked at once. What
 * the webhook says isn't read (decision 007). The actor is `{ kind: "job", job: "webhook.receive" }`.
 *
 * @throws TowpathError `unauthenticated` for a wrong signature, and likewise for a project without webhook secret
 */
export async function receiveSourceWebhook({ ctx, input }: Call<SourceWebhook, "secrets">): Promise<void> {
  authorizePlatform(ctx);
  const { projectId } = input;
  const found = isId(projectId) ? await findSecret(ctx, projectId) : null;
  if (found === null || !isSigned(input, found)) {
    throw new TowpathError(
      "unauthenticated",
      "The webhook's signature is missing or wrong. Give the host the secret from the server's settings.",
    );
  }
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await tx.update(gitSource).set({ webhookAt: now, nextCheckAt: now }).where(eq(gitSource.projectId, projectId));
    await ctx.queue.enqueue("source.check", { projectId }, { key: projectId, transaction: tx });
  });
}

async function findSecret(ctx: Context<"secrets">, projectId: string): Promise<string | null> {
  const [found] = await ctx.db
    .select({ row: gitSource, organizationId: project.organizationId })
    .from(gitSource)
    .innerJoin(project, eq(project.id, gitSource.projectId))
    .where(eq(gitSource.projectId, projectId));
  const ciphertext = found?.row.webhookSecretCiphertext ?? null;
  if (!found || ciphertext === null) return null;
  const stored = { purpose: "webhook", organizationId: found.organizationId, projectId, ciphertext } as const;
  return openSourceSecret(ctx.secrets, await findDataKey(ctx.db, projectId), stored);
}

/**
 * GitHub (and Gitea) sign in X-Hub-Signature-256, Gitea in X-Gitea-Signature without prefix, Bitbucket in X-Hub-Signature;
 * GitLab sends the secret itself.
 */
function isSigned({ headers, rawBody }: SourceWebhook, secret: string): boolean {
  const signature = hmacSha256(secret, rawBody, "hex");
  const expected: readonly (readonly [header: string, value: string])[] = [
    ["x-hub-signature-256", `sha256=${signature}`],
    ["x-hub-signature", `sha256=${signature}`],
    ["x-gitea-signature", signature],
    ["x-gitlab-token", secret],
  ];
  return expected.some(([header, value]) => equalInConstantTime(headers.get(header) ?? "", value));
}
