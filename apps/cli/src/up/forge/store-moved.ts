import { createHash, randomUUID } from "node:crypto";
import type { openDatabase } from "@towpath/db";
import { type Forge, type ForgeRepository, missedPush, withoutMissed } from "./read-forge.ts";

type Pool = ReturnType<typeof openDatabase>["pool"];
type Client = Pick<Pool, "query">;

/** Stores the commits under this id. Returns `made_by` of the repository. */
type Adopt = (repository: ForgeRepository, id: string) => Promise<"deploy" | "forge">;

export type Moved = {
  /** owner/name at the forge. */
  readonly from: string;
  readonly orgSlug: string;
  readonly name: string;
};

type Server = { readonly id: string; readonly name: string; readonly organizationId: string };

/**
 * Stores each repository of the forge as a repository of the organizations whose servers are built from it, else of the
 * organization that its account is connected to. Servers are built from the new repository from now on. Known heads
 * move too, so nothing is rebuilt. `adopt` runs before the rows are written.
 *
 * @returns what was moved, and owner/name of repositories that no organization uses
 */
export async function storeMoved(
  pool: Pool,
  forge: Forge,
  adopt: Adopt,
): Promise<{ readonly moved: readonly Moved[]; readonly left: readonly string[] }> {
  const client = await pool.connect();
  try {
    const missed = await readMissed(client);
    const plans: Plan[] = [];
    for (const repository of forge.repositories) {
      const heads = withoutMissed(
        repository.reportedHeads,
        missed.filter(({ repositoryId }) => repositoryId === repository.id),
      );
      for (const organizationId of await organizationsOf(client, forge, repository)) {
        const id = idOf(repository, organizationId);
        plans.push({ forge, repository, organizationId, heads, id, madeBy: await adopt(repository, id) });
      }
    }
    const moved = await inTransaction(client, async () => {
      const rows: Moved[] = [];
      for (const plan of plans) rows.push(await store(client, plan));
      await forgetAccounts(client, forge);
      return rows;
    });
    const left = forge.repositories.filter((each) => !plans.some(({ repository }) => repository === each));
    return { moved, left: left.map(({ owner, name }) => `${owner}/${name}`) };
  } finally {
    client.release();
  }
}

async function inTransaction<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  await client.query("BEGIN");
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/** The same at each attempt, and different for each organization: a repository belongs to one. */
function idOf({ id, createdAt }: ForgeRepository, organizationId: string): string {
  const hex = createHash("sha256").update(`towpath forge ${id} ${createdAt} ${organizationId}`).digest("hex");
  // A version 8 UUID (RFC 9562): its bits are ours.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Pushes whose webhooks arrived but were not processed, newest first. */
async function readMissed(client: Client) {
  const { rows } = await client.query<{ payload: unknown }>(
    "SELECT payload FROM webhook_delivery WHERE event = 'push' AND processed_at IS NULL ORDER BY received_at DESC",
  );
  return rows.flatMap(({ payload }) => missedPush(payload));
}

/** By number, as repositories can be renamed, and by owner: a GitHub Enterprise host has numbers from 1 as well. */
async function serversOf(client: Client, forge: Forge, { id, owner, name }: ForgeRepository): Promise<Server[]> {
  const { rows } = await client.query<Server>(
    `SELECT id, name, organization_id AS "organizationId" FROM project
     WHERE kind = 'hosted' AND repository_id = $1
       AND lower(split_part(repository_full_name, '/', 1)) = lower($3)
       AND (installation_id = ANY ($2) OR installation_id IS NULL AND lower(split_part(repository_full_name, '/', 2)) = lower($4))
     ORDER BY created_at, id`,
    [id, forge.installations.map((each) => each.id), owner, name],
  );
  return rows;
}

async function organizationsOf(client: Client, forge: Forge, repository: ForgeRepository): Promise<readonly string[]> {
  const servers = await serversOf(client, forge, repository);
  if (servers.length > 0) return [...new Set(servers.map(({ organizationId }) => organizationId))];
  // Stored by a move that was killed before its end.
  const stored = await client.query<{ id: string; organizationId: string }>(
    `SELECT id, organization_id AS "organizationId" FROM repository`,
  );
  const own = stored.rows.filter(({ id, organizationId }) => id === idOf(repository, organizationId));
  if (own.length > 0) return own.map(({ organizationId }) => organizationId);
  const { rows } = await client.query<{ id: string }>(
    `SELECT organization_id AS id FROM github_installation
     WHERE (installation_id, lower(account_login)) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))
       AND lower(account_login) = lower($3)
     ORDER BY created_at LIMIT 1`,
    [...installationsOf(forge), repository.owner],
  );
  return rows.map(({ id }) => id);
}

const installationsOf = ({ installations }: Forge) => [
  installations.map(({ id }) => id),
  installations.map(({ login }) => login.toLowerCase()),
];

type Plan = {
  readonly forge: Forge;
  readonly repository: ForgeRepository;
  readonly organizationId: string;
  readonly id: string;
  readonly madeBy: "deploy" | "forge";
  readonly heads: ReadonlyMap<string, string>;
};

async function store(client: Client, plan: Plan): Promise<Moved> {
  const { forge, repository, organizationId, id, madeBy, heads } = plan;
  const name = await freeName(client, plan);
  await client.query(
    `INSERT INTO repository (id, organization_id, name, default_branch, made_by, pushed_at, created_at)
     VALUES ($1, $2, $3, $4, $5, now(), $6) ON CONFLICT (id) DO NOTHING`,
    [id, organizationId, name, repository.defaultBranch, madeBy, repository.createdAt],
  );
  const from = `${repository.owner}/${repository.name}`;
  const servers = await serversOf(client, forge, repository);
  for (const server of servers.filter((each) => each.organizationId === organizationId)) {
    // Checked at once, so that an unprocessed head is found.
    await client.query(
      `INSERT INTO git_source (project_id, repository_id, previews, heads, changed_at) VALUES ($1, $2, true, $3, now())`,
      [server.id, id, JSON.stringify(Object.fromEntries(heads))],
    );
    await client.query(
      `UPDATE project SET installation_id = NULL, repository_id = NULL, repository_full_name = NULL,
         repository_private = false WHERE id = $1`,
      [server.id],
    );
    // A job finds that pull requests from forks are gone, and ends their previews.
    await client.query(
      `UPDATE branch SET pull_request_url = NULL,
         pull_request_number = CASE WHEN name LIKE 'pull:%' THEN pull_request_number END,
         hinted_at = CASE WHEN name LIKE 'pull:%' THEN now() - interval '1 hour' ELSE hinted_at END
       WHERE project_id = $1 AND (pull_request_number IS NOT NULL OR name LIKE 'pull:%')`,
      [server.id],
    );
    await client.query(
      `INSERT INTO audit_log (id, organization_id, project_id, actor, action, subject, detail)
       VALUES ($1, $2, $3, 'job:forge.move', 'source.change', $4, $5)`,
      [randomUUID(), organizationId, server.id, server.name, JSON.stringify({ from, to: name })],
    );
  }
  const { rows } = await client.query<{ slug: string }>("SELECT slug FROM organization WHERE id = $1", [
    organizationId,
  ]);
  return { from, orgSlug: rows[0]?.slug ?? "", name };
}

/** The forge's name, valid for repositories of this instance, with a number if the organization has it already. */
async function freeName(client: Client, { repository, organizationId, id: own }: Plan): Promise<string> {
  const { rows } = await client.query<{ id: string; name: string }>(
    "SELECT id, name FROM repository WHERE organization_id = $1",
    [organizationId],
  );
  const stored = rows.find(({ id }) => id === own);
  if (stored) return stored.name;
  const taken = new Set(rows.map(({ name }) => name));
  const plain = plainName(repository.name);
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : `${plain}-${count}`;
    if (!taken.has(name)) return name;
  }
}

/** `repositoryNameSchema` of core allows fewer names than the forge did. */
function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 90)
    .replace(/(?:\.git|\.lock|\.)$/, "");
  return plain === "" ? "repository" : plain;
}

/** Removes the forge's accounts: GitHub may have accounts with the same numbers. */
async function forgetAccounts(client: Client, forge: Forge): Promise<void> {
  await client.query(
    `DELETE FROM github_installation
     WHERE (installation_id, lower(account_login)) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))`,
    installationsOf(forge),
  );
  await client.query("DELETE FROM github_user WHERE connection = 0 AND github_user_id = ANY ($1)", [forge.accountIds]);
  await client.query(`UPDATE "user" SET github_user_id = NULL WHERE github_user_id = ANY ($1)`, [forge.accountIds]);
}
