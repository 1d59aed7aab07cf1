import { buildLog } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { holdBuilds, redeployBuild, startBuild } from "../../delivery/build/index.ts";
import { deployProject } from "../../projects/project/index.ts";
import {
  openOrganization,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { getHostStorage, getStorageWarning, recordHostStorage, type StorageReport } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
beforeEach(async () => {
  await database.pool.query("DELETE FROM host_storage");
});

const gibibyte = 1024 ** 3;
const report = (low: boolean): StorageReport => ({
  totalBytes: 100 * gibibyte,
  freeBytes: gibibyte,
  availableBytes: gibibyte,
  reserveBytes: 2 * gibibyte,
  low,
  kinds: { artifacts: 5 * gibibyte },
});
const record = (host: string, low: boolean, at = new Date()) =>
  recordHostStorage(database.db, { host, report: report(low), at });

test("LOG-6 while no host has disk space, every verb that starts builds is refused, and nothing is queued", async () => {
  const project = await seedProject(database.db, organization);
  const ctx = testContext(database.db, organization.owner);
  const key = { orgSlug: organization.slug, projectName: project.name };
  const { build: done } = await startBuild({ ctx, input: { ...key, commitSha: shaOf("a") } });
  await succeedBuild(database.db, done.id);
  await record("a", true);
  const starts = [
    startBuild({ ctx, input: { ...key, commitSha: shaOf("b") } }),
    redeployBuild({ ctx, input: { buildId: done.id } }),
    deployProject({
      ctx,
      input: {
        orgSlug: organization.slug,
        name: "another-server",
        installationId: organization.installationId,
        repositoryFullName: "acme/another",
        entrypoint: "echo.py",
        trigger: "import",
      },
    }),
  ];
  expect(await Promise.all(starts.map(refusalCode))).toEqual(Array(3).fill("out_of_storage"));
  expect((await database.pool.query("SELECT 1 FROM build WHERE status = 'queued'")).rowCount).toBe(0);
  expect(await getStorageWarning({ ctx, input: { orgSlug: organization.slug } })).toEqual({ refused: true });
  // Another host has room.
  await record("b", false);
  expect((await startBuild({ ctx, input: { ...key, commitSha: shaOf("b") } })).created).toBe(true);
  expect(await getStorageWarning({ ctx, input: { orgSlug: organization.slug } })).toEqual({ refused: false });
});

test("LOG-6 the report of a host that no longer reports is ignored", async () => {
  await record("gone", true, new Date(Date.now() - 10 * 60_000));
  const ctx = testContext(database.db, organization.owner);
  expect(await getStorageWarning({ ctx, input: { orgSlug: organization.slug } })).toEqual({ refused: false });
  expect(await getHostStorage({ ctx, input: { orgSlug: organization.slug } })).toEqual([]);
});

test("LOG-6 admins see disk usage, members the warning, others neither", async () => {
  await record("a", true);
  const input = { orgSlug: organization.slug };
  const as = (actor: SeededOrganization["owner"]) => testContext(database.db, actor);
  expect(await getHostStorage({ ctx: as(await organization.join("admin")), input })).toMatchObject([
    { host: "a", low: true },
  ]);
  const member = as(await organization.join("member"));
  expect(await refusalCode(getHostStorage({ ctx: member, input }))).toBe("forbidden");
  expect(await getStorageWarning({ ctx: member, input })).toEqual({ refused: true });
  const stranger = as((await seedOrganization(database.db)).owner);
  expect(await refusalCode(getHostStorage({ ctx: stranger, input }))).toBe("forbidden");
  expect(await refusalCode(getStorageWarning({ ctx: stranger, input }))).toBe("forbidden");
});

test("LOG-6 BLD-13 a build that waits for disk space says so in its log, once", async () => {
  const project = await seedProject(database.db, organization);
  const ctx = testContext(database.db, organization.owner);
  const key = { orgSlug: organization.slug, projectName: project.name };
  const { build: queued } = await startBuild({ ctx, input: { ...key, commitSha: shaOf("a") } });
  const platform = testContext(database.db, { kind: "job", job: "build.run" });
  const hold = () =>
    holdBuilds({ ctx: platform, input: { organizationId: organization.id, reason: "Waiting for room." } });
  expect([await hold(), await hold()]).toEqual([{ held: 1 }, { held: 0 }]);
  const lines = await database.db.select().from(buildLog).where(eq(buildLog.buildId, queued.id));
  expect(lines).toMatchObject([{ line: 1, kind: "warning", text: "Waiting for room." }]);
  expect(await refusalCode(holdBuilds({ ctx, input: { organizationId: organization.id, reason: "x" } }))).toBe(
    "forbidden",
  );
});
