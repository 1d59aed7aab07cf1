import type { Database, Transaction } from "@towpath/db";
import { gitSource } from "@towpath/db/schema";
import { openDeployKey, sealSourceSecret } from "@towpath/secrets";
import { and, eq, gt, isNotNull, sql } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { asTowpathError, notFound, TowpathError } from "../../errors/index.ts";
import { type GitCredential, mayNeedSignIn } from "../../ports/index.ts";
import { nextProblem, problemOf } from "./following.ts";
import type { gitCredentialInputSchema } from "./git-source.schema.ts";
import { nextTryAt } from "./pauses.ts";

type Queryable = Database | Transaction;
export type GitSourceRow = typeof gitSource.$inferSelect;
type Owner = { readonly organizationId: string; readonly projectId: string };

export async function findGitSource(db: Queryable, projectId: string): Promise<GitSourceRow | null> {
  const [row] = await db.select().from(gitSource).where(eq(gitSource.projectId, projectId));
  return row ?? null;
}

/** A row whose repository is behind a URL. */
export type UrlSourceRow = GitSourceRow & { readonly url: string };

/**
 * For what only a repository elsewhere has.
 *
 * @throws TowpathError `not_found` for a project with another source, `conflict` for a repository of this instance
 */
export async function requireUrlSource(db: Queryable, projectId: string): Promise<UrlSourceRow> {
  const row = await requireGitSource(db, projectId);
  if (row.url !== null) return { ...row, url: row.url };
  throw new TowpathError(
    "conflict",
    "The server's repository is one of this instance, whose pushes are noticed at once: it needs no webhook.",
  );
}

/** @throws TowpathError `not_found` for a project with another source */
export async function requireGitSource(db: Queryable, projectId: string): Promise<GitSourceRow> {
  const row = await findGitSource(db, projectId);
  if (!row) throw notFound("Git source");
  return row;
}

const deployKeySchema = z.object({ privateKey: z.string(), publicKey: z.string(), expiresAt: z.iso.datetime() });
export type DeployKey = z.infer<typeof deployKeySchema>;

/** A credential that somebody gave, with what is shown of it. */
export type GivenCredential = {
  readonly credential: GitCredential;
  readonly publicKey: string | null;
  readonly expiresAt: Date | null;
};

/** @throws TowpathError `invalid_input` for a deploy key of another organization, or of more than a day ago */
export function givenCredential(
  ctx: Context<"secrets">,
  organizationId: string,
  input: z.output<typeof gitCredentialInputSchema> | null | undefined,
): GivenCredential | null {
  if (!input) return null;
  if (input.kind === "token") {
    const { kind, username, token, expiresAt } = input;
    return {
      credential: { kind, username, token },
      publicKey: null,
      expiresAt: expiresAt ? new Date(expiresAt) : null,
    };
  }
  const key = openedDeployKey(ctx, organizationId, input.sealed);
  if (!key || new Date(key.expiresAt) <= ctx.clock.now()) {
    const message = "This deploy key can't be used any more. Make a new one, and add it to the repository.";
    throw new TowpathError("invalid_input", message, { fields: { credential: message } });
  }
  const { privateKey, publicKey } = key;
  return { credential: { kind: "deployKey", privateKey }, publicKey, expiresAt: null };
}

function openedDeployKey(ctx: Context<"secrets">, organizationId: string, sealed: string): DeployKey | null {
  const box = ctx.secrets;
  try {
    return deployKeySchema.parse(JSON.parse(openDeployKey(box, organizationId, sealed)));
  } catch {
    return null;
  }
}

/** The columns of a credential, sealed for the origin of `url`. */
export async function sealedCredential(
  tx: Transaction,
  ctx: Context<"secrets">,
  source: Owner & { readonly url: string; readonly version: number },
  given: GivenCredential | null,
) {
  if (!given) {
    return {
      credentialKind: null,
      credentialCiphertext: null,
      credentialVersion: source.version,
      deployKeyPublic: null,
      credentialExpiresAt: null,
    };
  }
  const value = JSON.stringify(given.credential);
  return {
    credentialKind: given.credential.kind,
    credentialCiphertext: await sealSourceSecret(tx, ctx.secrets, { ...source, purpose: "credential" }, value),
    credentialVersion: source.version,
    deployKeyPublic: given.publicKey,
    credentialExpiresAt: given.expiresAt,
  };
}

/** Whether a check of the source in between has changed what a decision was based on. */
export const sameGitSource = (now: GitSourceRow | null, before: GitSourceRow | null): boolean =>
  now?.url === before?.url &&
  now?.repositoryId === before?.repositoryId &&
  now?.branch === before?.branch &&
  now?.previews === before?.previews &&
  now?.credentialVersion === before?.credentialVersion;

/**
 * Stores why a repository can't be read, and asks again after a growing pause. Nothing that is live changes.
 *
 * @throws what is no refusal of the repository, but an error of ours
 */
export async function recordFailure(ctx: Context, row: GitSourceRow, error: unknown): Promise<GitSourceRow> {
  const now = ctx.clock.now();
  const { code, message, detail } = asTowpathError(error);
  const shown =
    code === "conflict"
      ? refusedCredential(row, message, now)
      : detail === mayNeedSignIn && row.url !== null
        ? noLongerPublic(row.url)
        : message;
  const problem = nextProblem(problemOf(row), { code, message: shown }, now);
  const [after = row] = await ctx.db
    .update(gitSource)
    .set({ problem, checkedAt: now, nextCheckAt: nextTryAt(now, problem.tries) })
    // What was found is about this address and credential only.
    .where(
      and(
        eq(gitSource.projectId, row.projectId),
        sql`${gitSource.url} IS NOT DISTINCT FROM ${row.url}`,
        eq(gitSource.credentialVersion, row.credentialVersion),
      ),
    )
    .returning();
  if (!(error instanceof TowpathError)) throw error;
  return after;
}

function refusedCredential(
  { credentialExpiresAt: end, credentialKind: kind }: GitSourceRow,
  message: string,
  now: Date,
) {
  if (kind !== "token" || end === null || end > now) return message;
  return `The token ended on ${end.toISOString().slice(0, 10)}. Add a new one in the server's settings. (${message})`;
}

/** A repository that could be read without a credential, and no longer can. */
const noLongerPublic = (url: string) =>
  `${new URL(url).host} no longer shows this repository: it was made private, deleted or renamed. If it is private, add a token or a deploy key in the server's settings; if it has another URL, enter that there. What is live stays.`;

/** How soon a repository is asked again at which somebody looks. */
const lookedAtMs = 15_000;

/**
 * Somebody looks at a project: its repository is asked soon, unless it is already or can't be read. Pages call it often,
 * so it writes only where that changes something.
 */
export async function recordLook(ctx: Context, projectId: string): Promise<void> {
  const soon = new Date(ctx.clock.now().getTime() + lookedAtMs);
  await ctx.db
    .update(gitSource)
    .set({ nextCheckAt: soon })
    .where(
      and(
        eq(gitSource.projectId, projectId),
        gt(gitSource.nextCheckAt, soon),
        sql`${gitSource.problem} IS NULL`,
        // Pushes to a repository of this instance are known at once.
        isNotNull(gitSource.url),
      ),
    );
}

/** Forgets a branch's head, so that the next check that succeeds applies it: it could not be applied now. */
export async function forgetHead(db: Queryable, projectId: string, name: string): Promise<void> {
  await db
    .update(gitSource)
    .set({ heads: sql`${gitSource.heads} - ${name}::text` })
    .where(eq(gitSource.projectId, projectId));
}
