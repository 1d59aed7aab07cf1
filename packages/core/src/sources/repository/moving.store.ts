import type { Transaction } from "@towpath/db";
import { repository } from "@towpath/db/schema";
import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { TargetRepository } from "../../ports/index.ts";
import { continuedAs, type RepositoryRow } from "./repository.store.ts";

/** A process that holds a repository renews this, and keeps others out no longer after it has ended. */
const heldMs = 60_000;
const renewMs = 20_000;

/**
 * Runs what moves a repository, while nobody else moves or pushes to it. `work` gets its row as it is then.
 *
 * @throws TowpathError `conflict` while somebody else moves it, or when it has moved; what `work` throws
 */
export async function whileMoving<Result>(
  ctx: Context,
  id: string,
  work: (row: RepositoryRow) => Promise<Result>,
): Promise<Result> {
  const row = await hold(ctx, id, or(isNull(repository.movingUntil), lt(repository.movingUntil, ctx.clock.now())));
  if (row === null)
    throw new TowpathError("conflict", "Somebody is moving this repository to GitHub. Try again in a minute.");
  let held: RepositoryRow | null = row;
  let renewal: Promise<unknown> = Promise.resolve();
  const own = () => (held?.movingUntil ? eq(repository.movingUntil, held.movingUntil) : sql`false`);
  const renew = async () => {
    held = await hold(ctx, id, own());
  };
  // A database that doesn't answer is asked again by the next one.
  const timer = setInterval(() => {
    renewal = renewal.then(renew).catch(() => {});
  }, renewMs);
  try {
    return await work(row);
  } finally {
    clearInterval(timer);
    await renewal;
    await ctx.db
      .update(repository)
      .set({ movingUntil: null })
      .where(and(eq(repository.id, id), own()));
  }
}

async function hold(ctx: Context, id: string, isFree: SQL | undefined): Promise<RepositoryRow | null> {
  const [row] = await ctx.db
    .update(repository)
    .set({ movingUntil: new Date(ctx.clock.now().getTime() + heldMs) })
    .where(and(eq(repository.id, id), isNull(repository.continuedAt), isFree))
    .returning();
  return row ?? null;
}

/** Records what was made at GitHub, so that a repeated try uses it. */
export async function recordTarget(
  tx: Transaction,
  id: string,
  installationId: number,
  { id: githubRepositoryId, fullName: githubFullName, url: githubUrl }: TargetRepository,
): Promise<void> {
  await tx
    .update(repository)
    .set({ githubInstallationId: installationId, githubRepositoryId, githubFullName, githubUrl })
    .where(eq(repository.id, id));
}

/** Waits for pushes that are just being recorded, and for servers that are being made from it. Null: it was deleted. */
export async function lockRepository(tx: Transaction, id: string): Promise<RepositoryRow | null> {
  const [row] = await tx.select().from(repository).where(eq(repository.id, id)).for("update");
  return row ?? null;
}

/** From now on it is read-only. */
export async function endAsContinued(tx: Transaction, ctx: Context, id: string): Promise<void> {
  await tx.update(repository).set({ continuedAt: ctx.clock.now(), movingUntil: null }).where(eq(repository.id, id));
}

/** @throws TowpathError `conflict` for a repository that continues on GitHub, with where to push instead */
export function requireNotContinued(row: RepositoryRow): void {
  const continued = continuedAs(row);
  if (continued === null) return;
  throw new TowpathError(
    "conflict",
    `This repository continues on GitHub as ${continued.fullName} and takes no pushes here. Push there from now on: git remote set-url origin ${continued.url}`,
  );
}

/** @throws TowpathError `conflict` as `requireNotContinued`, and while it is being moved */
export function requireOpenForPushes(ctx: Context, row: RepositoryRow): void {
  requireNotContinued(row);
  if (row.movingUntil === null || row.movingUntil <= ctx.clock.now()) return;
  const message = "This repository is being moved to GitHub and takes no pushes meanwhile. Try again in a minute.";
  throw new TowpathError("conflict", message);
}
