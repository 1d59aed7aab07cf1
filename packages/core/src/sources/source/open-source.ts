import { type project, repository } from "@towpath/db/schema";
import { findDataKey, openSourceSecret } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { auditDecryption } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context, GitServices, SourceServices } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { addressOf, type GitReader, type GitRemote } from "../../ports/index.ts";
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
  ctx: Context<GitServices>,
  organizationId: string,
  row: GitSourceRow,
  reason: Reason,
): Promise<GitReader> {
  if (row.repositoryId !== null) return ctx.instanceRepositories.open(row.repositoryId);
  const url = row.url ?? "";
  return ctx.gitRemotes.open(await openRemote(ctx, organizationId, { ...row, url }, reason));
}

const storedCredentialSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("token"), username: z.string(), token: z.string() }),
  z.object({ kind: z.literal("deployKey"), privateKey: z.string() }),
]);

/** In the audit log: who decrypted a credential of a Git URL, and why. */
export function auditSourceDecryption(
  ctx: Context,
  organizationId: string,
  { projectId, url, credentialVersion: version }: UrlSourceRow,
  reason: Reason,
): Promise<void> {
  const detail = { reason, version };
  return auditDecryption(ctx, { organizationId, projectId, action: "source.decrypt", subject: url, detail });
}

/** The repository of a Git URL with its credential. */
export async function openRemote(
  ctx: Context<"secrets">,
  organizationId: string,
  row: UrlSourceRow,
  reason: Reason,
): Promise<GitRemote> {
  const { url, projectId, credentialCiphertext: ciphertext, credentialVersion: version } = row;
  if (ciphertext === null) return { url, credential: null };
  await auditSourceDecryption(ctx, organizationId, row, reason);
  const stored = { purpose: "credential", organizationId, projectId, url, version, ciphertext } as const;
  const value = openSourceSecret(ctx.secrets, await findDataKey(ctx.db, projectId), stored);
  return { url, credential: storedCredentialSchema.parse(JSON.parse(value)) };
}

/** Reads a project's repository, wherever it is; null for a project without one, or whose installation is gone. */
export async function openRepository(
  ctx: Context<SourceServices>,
  of: ProjectRow,
  reason: Reason,
): Promise<GitReader | null> {
  const source = sourceOf(of);
  if (source?.kind === "github") return openAtGitHub(ctx, source);
  const row = source?.kind === "git" ? await findGitSource(ctx.db, of.id) : null;
  return row && openGitSource(ctx, of.organizationId, row, reason);
}

function openAtGitHub(ctx: Context<"repositories">, source: Extract<BuiltFrom, { kind: "github" }>): GitReader | null {
  const { installationId, repositoryId, fullName } = source;
  if (installationId === null) return null;
  return ctx.repositories.open({ ...addressOf(installationId, fullName), repositoryId });
}

/**
 * The repository of a build, for the process that fetches it. If the server has another source meanwhile, a Git URL is
 * read without the credential, which was replaced or belongs to the new one.
 *
 * @throws TowpathError `not_found` for a repository of this instance that was deleted, and without an installation at GitHub
 */
export async function openBuildSource(call: {
  ctx: Context<SourceServices>;
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
    if ((await ctx.db.$count(repository, own)) > 0) return ctx.instanceRepositories.open(from.repositoryId);
    throw new TowpathError("not_found", `The repository ${from.fullName} was deleted.`);
  }
  const row = await findGitSource(ctx.db, projectId);
  if (row?.url === from.url) return openGitSource(ctx, organizationId, row, "build");
  return ctx.gitRemotes.open({ url: from.url, credential: null });
}
