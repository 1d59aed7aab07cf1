import type { Transaction } from "@towpath/db";
import { gitSource } from "@towpath/db/schema";
import { findDataKey, openSourceSecret, sealSourceSecret } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { type StatusHost, statusHosts } from "./git-source.schema.ts";
import { findGitSource } from "./git-source.store.ts";
import { auditSourceDecryption } from "./open-source.ts";

type Owner = { readonly organizationId: string; readonly projectId: string };
type OpenedStatusHook = { readonly kind: StatusHost; readonly url: string; readonly token: string };

/** The columns of a source that posts no states. */
export const noStatus = { statusKind: null, statusCiphertext: null, statusAt: null, statusProblem: null } as const;

/** The columns of where states of builds are posted, with the token sealed for the URL's origin. */
export async function sealedStatus(
  tx: Transaction,
  ctx: Context<"secrets">,
  owner: Owner & { readonly url: string },
  given: { readonly kind: StatusHost; readonly token: string } | null,
) {
  if (given === null) return noStatus;
  const secret = { ...owner, purpose: "status" } as const;
  const statusCiphertext = await sealSourceSecret(tx, ctx.secrets, secret, given.token);
  return { ...noStatus, statusKind: given.kind, statusCiphertext };
}

/** Where states of a project's builds are posted, for the process that posts; null: nowhere. */
export async function openedStatusHook(ctx: Context<"secrets">, owner: Owner): Promise<OpenedStatusHook | null> {
  const row = await findGitSource(ctx.db, owner.projectId);
  const kind = statusHosts.find((each) => each === row?.statusKind);
  if (!row?.statusCiphertext || row.url === null || kind === undefined) return null;
  const { url, statusCiphertext: ciphertext } = row;
  await auditSourceDecryption(ctx, owner.organizationId, { ...row, url }, "status");
  const stored = { ...owner, purpose: "status", url, ciphertext } as const;
  const token = openSourceSecret(ctx.secrets, await findDataKey(ctx.db, owner.projectId), stored);
  return { kind, url, token };
}

/** Keeps whether the host took a state. `problem`: why it didn't, for the server's settings. */
export async function recordStatus(
  ctx: Context,
  projectId: string,
  hook: Pick<OpenedStatusHook, "kind" | "url">,
  problem: string | null,
): Promise<void> {
  const taken = problem === null && { statusAt: ctx.clock.now() };
  await ctx.db
    .update(gitSource)
    .set({ ...taken, statusProblem: problem })
    // Somebody may have named another place meanwhile.
    .where(and(eq(gitSource.projectId, projectId), eq(gitSource.url, hook.url), eq(gitSource.statusKind, hook.kind)));
}
