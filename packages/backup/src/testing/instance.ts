import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { git, makeRepository } from "@towpath/git/testing";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type { BackedUpInstance } from "../create-backup.ts";

export type TestInstance = BackedUpInstance & {
  readonly directory: string;
  readonly database: TestDatabase;
  readonly recipient: { readonly publicKeys: readonly string[] };
  readonly identity: { readonly privateKeys: readonly string[] };
  readonly repositoryId: string;
  readonly commit: string;
  close(): Promise<void>;
};

/** Files and rows of an instance with one server, one repository with a commit and one that is empty. */
export async function makeInstance(): Promise<TestInstance> {
  const directory = await mkdtemp(join(tmpdir(), "tp-backup-"));
  const database = await createTestDatabase();
  const dataDirectory = join(directory, "data");
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, "instance.json"), JSON.stringify({ secret: "s".repeat(43) }));
  await writeFile(join(dataDirectory, "operator-token"), "tpo_token\n");
  const [organizationId, repositoryId, emptyId] = [randomUUID(), randomUUID(), randomUUID()];
  await database.pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Acme', 'acme')", [organizationId]);
  for (const [id, name] of [
    [repositoryId, "sunny"],
    [emptyId, "empty"],
  ])
    await database.pool.query(
      "INSERT INTO repository (id, organization_id, name, made_by, pushed_at) VALUES ($1, $2, $3, 'push', now())",
      [id, organizationId, name],
    );
  await database.pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint) VALUES (gen_random_uuid(), $1, 'sunny-days', '')",
    [organizationId],
  );
  const commit = await makeRepository(join(directory, "work"), { "server.py": "mcp = 1\n" });
  await git(join(directory, "work"), "branch", "feature");
  const repositories = join(dataDirectory, "repositories");
  await mkdir(repositories);
  await git(directory, "clone", "--quiet", "--bare", "work", join(repositories, `${repositoryId}.git`));
  await git(directory, "init", "--quiet", "--bare", "--initial-branch=trunk", join(repositories, `${emptyId}.git`));
  const privateKey = await generateX25519Identity();
  return {
    directory,
    database,
    databaseUrl: database.url,
    dataDirectory,
    runDirectory: join(dataDirectory, "run"),
    environment: {
      TOWPATH_URL: "http://it's.example",
      TOWPATH_DATA_DIR: dataDirectory,
      TOWPATH_BACKUP_PASSPHRASE: "x",
      HOME: "/",
    },
    recipient: { publicKeys: [await identityToRecipient(privateKey)] },
    identity: { privateKeys: [privateKey] },
    repositoryId,
    commit,
    async close() {
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
