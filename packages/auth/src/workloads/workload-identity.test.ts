import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { createWorkloadChecker, currentWorkloads } from "./workload-identity.ts";

const database = openTestDatabase();

async function store(issuer: string, { keySet = null as string | null, ca = null as string | null } = {}) {
  const { pool } = database;
  const [id, organizationId] = [randomUUID(), randomUUID()];
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'O', $1::uuid::text)", [organizationId]);
  await pool.query(
    `INSERT INTO workload_identity (id, organization_id, name, issuer, key_set, ca, subjects)
     VALUES ($1, $2, 'Agents', $3, $4, $5, '{a:*}')`,
    [id, organizationId, issuer, keySet, ca],
  );
  return { id, organizationId, issuer };
}
const rowOf = async (id: string) =>
  (await database.pool.query("SELECT last_used_at, problem FROM workload_identity WHERE id = $1", [id])).rows[0];

test("KEY-6 identities are found by organization and issuer until they are revoked, and their last use is stored", async () => {
  const workloads = createWorkloadChecker(database.pool, { cacheMs: 0 });
  const issuer = `https://${randomUUID()}.test/with a space`;
  const [own, other] = [await store(issuer), await store(issuer)];
  expect((await workloads.find(own))?.map(({ id }) => id)).toEqual([own.id]);
  expect(await workloads.find({ ...own, issuer: "https://elsewhere.test" })).toBeNull();
  workloads.used(own.id);
  await workloads.storeUses();
  const { last_used_at: first } = await rowOf(own.id);
  expect(first).toBeInstanceOf(Date);
  expect((await rowOf(other.id)).last_used_at).toBeNull();
  workloads.used(own.id);
  await workloads.storeUses();
  expect((await rowOf(own.id)).last_used_at).toEqual(first);
  await database.pool.query("UPDATE workload_identity SET enabled = false WHERE id = $1", [own.id]);
  workloads.cache.changed();
  expect(await workloads.find(own)).toBeNull();
  expect((await currentWorkloads(database.pool, [own.id, other.id])).has(own.id)).toBe(false);
});

test("KEY-6 a problem of an issuer's keys is kept for those that name this source, until it is over", async () => {
  const workloads = createWorkloadChecker(database.pool);
  const issuer = `https://${randomUUID()}.test`;
  const [one, pasted] = [await store(issuer), await store(issuer, { keySet: "{}" })];
  const source = { issuer, jwksUrl: null, keySet: null, ca: null };
  await workloads.storeProblem(source, "It does not answer.");
  expect([(await rowOf(one.id)).problem, (await rowOf(pasted.id)).problem]).toEqual(["It does not answer.", null]);
  await workloads.storeProblem(source, null);
  expect((await rowOf(one.id)).problem).toBeNull();
});
