import { auditLog, type project, repository } from "@towpath/db/schema";
import { findDataKey, openSourceSecret } from "@towpath/secrets";
import { and, eq, gt } from "drizzle-orm";
import { z } from "zod";
import { audit } from "../audit/index.ts";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import {
  addressOf,
  type GitReader,
  type GitRemote,
  requireGitRemotes,
  requireInstanceRepositories,
  requireRepositoryHost,
} from "../ports/index.ts";
import { requireSecretBox } from "../secret/internal.ts";
import type { BuiltFrom } from "./built-from.ts";
import { findGitSource, type GitSourceRow, type UrlSourceRow } from "./git-source.store.ts";
import { sourceOf } from "./source.ts";

type ProjectRow = typeof project.$inferSelect;

type Reason = "check" | "build" | "source" | "status";

/**
 * Reads the repository of a stored Git source, behind a URL or of this instance. Each reader of a credential is in the
 * audit log before it has the value.
 */
export async function openGitSource(
  ctx: Context,
  organizationId: string,
  row: GitSourceRow,
  reason: Reason,
): Promise<GitReader> {
  if (row.repositoryId !== null) return requireInstanceRepositories(ctx).open(row.repositoryId);
  const url = row.url ?? "";
  return requireGitRemotes(ctx).open(await openedRemote(ctx, organizationId, { ...row, url }, reason));
}

const storedCredentialSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("token"), username: z.string(), token: z.string() }),
  z.object({ kind: z.literal("deployKey"), privateKey: z.string() }),
]);

const dayMs = 86_400_000;

/** In the audit log: who decrypted a credential (KEY-2). Of a job that does it all day long, once a day. */
export async function auditDecryption(
  ctx: Context,
  organizationId: string,
  row: UrlSourceRow,
  reason: Reason,
): Promise<void> {
  const { projectId, url, credentialVersion: version } = row;
  const entry = { organizationId, projectId, action: "source.decrypt", subject: url, detail: { reason, version } };
  await ctx.db.transaction(async (tx) => {
    if (ctx.actor.kind === "job") {
      const since = new Date(ctx.clock.now().getTime() - dayMs);
      const mine = and(eq(auditLog.action, entry.action), eq(auditLog.actor, `job:${ctx.actor.job}`));
      const own = and(eq(auditLog.organizationId, organizationId), eq(auditLog.projectId, projectId));
      if ((await tx.$count(auditLog, and(own, mine, gt(auditLog.createdAt, since)))) > 0) return;
    }
    await audit(tx, ctx, entry);
  });
}

async function openedRemote(
  ctx: Context,
  organizationId: string,
  row: UrlSourceRow,
  reason: Reason,
): Promise<GitRemote> {
  const { url, projectId, credentialCiphertext: ciphertext, credentialVersion: version } = row;
  if (ciphertext === null) return { url, credential: null };
  await auditDecryption(ctx, organizationId, row, reason);
  const stored = { purpose: "credential", organizationId, projectId, url, version, ciphertext } as const;
  const value = openSourceSecret(requireSecretBox(ctx), await findDataKey(ctx.db, projectId), stored);
  return { url, credential: storedCredentialSchema.parse(JSON.parse(value)) };
}

/** Reads a project's repository, wherever it is; null for a project without one, or whose installation is gone. */
export async function openRepository(ctx: Context, of: ProjectRow, reason: Reason): Promise<GitReader | null> {
  const source = sourceOf(of);
  if (source?.kind === "github") return openAtGitHub(ctx, source);
  const row = source?.kind === "git" ? await findGitSource(ctx.db, of.id) : null;
  return row && openGitSource(ctx, of.organizationId, row, reason);
}

function openAtGitHub(ctx: Context, source: Extract<BuiltFrom, { kind: "github" }>): GitReader | null {
  const { installationId, repositoryId, fullName } = source;
  if (installationId === null) return null;
  return requireRepositoryHost(ctx).open({ ...addressOf(installationId, fullName), repositoryId });
}

/**
 * The repository of a build, for the process that fetches it. If the server has another source meanwhile, a Git URL is
 * read without the credential, which was replaced or belongs to the new one.
 *
 * @throws TowpathError `not_found` for a repository of this instance that was deleted, and without an installation at GitHub
 */
export async function openBuildSource(call: {
  ctx: Context;
  input: {
    readonly projectId: string;
    readonly organizationId: string;
    readonly from: Exclude<BuiltFrom, { kind: "package" }>;
  };
}): Promise<GitReader> {
  const { ctx, input } = call;
  const { projectId, organizationId, from } = input;
  authorizePlatform(ctx);
  if (from.kind === "github") {
    const reader = openAtGitHub(ctx, from);
    if (reader !== null) return reader;
    throw new TowpathError("not_found", "The server is not connected to a repository.");
  }
  if (from.kind === "repository") {
    const own = and(eq(repository.organizationId, organizationId), eq(repository.id, from.repositoryId));
    if ((await ctx.db.$count(repository, own)) > 0) return requireInstanceRepositories(ctx).open(from.repositoryId);
    throw new TowpathError("not_found", `The repository ${from.fullName} was deleted.`);
  }
  const row = await findGitSource(ctx.db, projectId);
  if (row?.url === from.url) return openGitSource(ctx, organizationId, row, "build");
  return requireGitRemotes(ctx).open({ url: from.url, credential: null });
}
