import type { Database, Transaction } from "@towpath/db";
import { githubConnection, githubInstallation, project } from "@towpath/db/schema";
import { openConnection, type SecretBox } from "@towpath/secrets";
import { and, asc, eq, gte, lt, type SQL } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { instanceOrganization } from "../../tenancy/organization/internal.ts";
import { gitHubHostName } from "./github-connection.schema.ts";
import { numbersOf } from "./numbers.schema.ts";

type Queryable = Database | Transaction;
export type GitHubConnectionRow = typeof githubConnection.$inferSelect;

export type GitHubSecrets = {
  readonly clientSecret: string;
  /** PEM */
  readonly privateKey: string;
  readonly webhookSecret: string;
};

const secretsSchema = z.object({ clientSecret: z.string(), privateKey: z.string(), webhookSecret: z.string() });

/** @throws WrongMasterKey; Error for what was changed or belongs to another row */
export const openedSecrets = (box: SecretBox, row: GitHubConnectionRow): GitHubSecrets =>
  secretsSchema.parse(JSON.parse(openConnection(box, row)));

export const listConnectionRows = (db: Queryable) =>
  db.select().from(githubConnection).orderBy(asc(githubConnection.number));

/** Locks the row. @throws TowpathError `not_found` */
export async function lockConnection(tx: Transaction, id: string): Promise<GitHubConnectionRow> {
  const [row] = isId(id)
    ? await tx.select().from(githubConnection).where(eq(githubConnection.id, id)).for("update")
    : [];
  if (!row) throw notFound("GitHub connection");
  return row;
}

/** Which rows have a number of the connection in a column. */
export function ofConnection(column: AnyPgColumn, connection: number): SQL | undefined {
  const { from, below } = numbersOf(connection);
  return and(gte(column, from), lt(column, below));
}

/** How many accounts organizations have connected through it, and names of the servers that are built from there. */
export async function usesOf(db: Queryable, connection: number): Promise<ConnectionUses> {
  const [accounts, servers] = await Promise.all([
    db
      .select({ login: githubInstallation.accountLogin, suspendedAt: githubInstallation.suspendedAt })
      .from(githubInstallation)
      .where(ofConnection(githubInstallation.installationId, connection))
      .orderBy(asc(githubInstallation.accountLogin)),
    db
      .select({ name: project.name })
      .from(project)
      .where(ofConnection(project.repositoryId, connection))
      .orderBy(asc(project.name)),
  ]);
  return {
    accounts: [...new Set(accounts.map(({ login }) => login))],
    suspended: [...new Set(accounts.flatMap(({ login, suspendedAt }) => (suspendedAt === null ? [] : [login])))],
    servers: servers.map(({ name }) => name),
  };
}

export type ConnectionUses = {
  /** Logins of accounts that organizations have connected. */
  readonly accounts: readonly string[];
  /** Those of them that have suspended the App. */
  readonly suspended: readonly string[];
  /** Names of the servers that are built from there. */
  readonly servers: readonly string[];
};

/** A GitHub App that this instance uses. No secrets. */
export type GitHubConnectionView = ConnectionUses & {
  /** null: the environment's, which can't be changed here. */
  readonly id: string | null;
  readonly number: number;
  /** For people: "GitHub", or "GitHub at HOST". */
  readonly hostName: string;
  readonly url: string;
  readonly appSlug: string;
  /** null: unknown. */
  readonly ownerLogin: string | null;
  readonly createdAt: string | null;
};

export const connectionView = (row: GitHubConnectionRow, uses: ConnectionUses): GitHubConnectionView => ({
  ...uses,
  id: row.id,
  number: row.number,
  hostName: gitHubHostName(row.url),
  url: row.url,
  appSlug: row.appSlug,
  ownerLogin: row.ownerLogin,
  createdAt: row.createdAt.toISOString(),
});

/**
 * GitHub Apps serve all organizations, so only the instance's own may manage them.
 *
 * @throws TowpathError `forbidden`
 */
export async function authorizeInstance(ctx: Context, input: { readonly orgSlug: string }) {
  const access = await authorize(ctx, "instance.manage", { orgSlug: input.orgSlug });
  const own = await instanceOrganization(ctx.db);
  if (own?.id === access.organization.id) return access;
  throw new TowpathError(
    "forbidden",
    `Forbidden: GitHub Apps of this instance are managed in its own organization${own ? `, ${own.name}` : ""}.`,
  );
}
