import {
  apikey,
  auditLog,
  branch,
  build,
  deployment,
  instance,
  invitation,
  member,
  oauthAuthorization,
  oauthClient,
  oauthConsent,
  oauthGrant,
  oauthRefreshToken,
  secret,
  session,
} from "@towpath/db/schema";
import { eq, sql } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { startBuild } from "../../delivery/build/index.ts";
import { newId } from "../../ids/index.ts";
import { deleteProject } from "../../projects/project/index.ts";
import { createOrganization, deleteOrganization } from "../../tenancy/organization/index.ts";
import {
  refusal,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { sweepRows } from "./index.ts";

const suite = openProjectSuite();
let others: SeededOrganization;
beforeEach(async () => {
  others = await seedOrganization(suite.database.db);
});

/** A project with something in every table that tells of projects. Resolves to all ids that stand for it. */
async function fullProject(owner: SeededOrganization): Promise<{ name: string; ids: string[] }> {
  const { db } = suite.database;
  const project = await seedProject(db, owner);
  const ctx = suite.as(owner.owner);
  const input = { orgSlug: owner.slug, projectName: project.name, commitSha: shaOf("a") };
  const { build: started } = await startBuild({ ctx, input });
  await succeedBuild(db, started.id);
  await startBuild({ ctx, input: { ...input, branch: "fix", commitSha: shaOf("b") } });
  const [made] = await db.select().from(deployment).where(eq(deployment.projectId, project.id));
  const deploymentId = made?.id ?? "";
  const instanceId = newId();
  await db.insert(instance).values({ id: instanceId, deploymentId, state: "ready" });
  await db
    .insert(secret)
    .values({ id: newId(), projectId: project.id, keyName: "KEY", environments: ["production"], ciphertext: "x" });
  await db.execute(sql`INSERT INTO build_log (build_id, line, time, phase, kind, text)
    VALUES (${started.id}::uuid, 100, now(), 'plan', 'step', 'x')`);
  await db.execute(sql`INSERT INTO server_log (time, project_id, deployment_id, instance_id, stream, level, line)
    VALUES (now(), ${project.id}::uuid, ${deploymentId}::uuid, ${instanceId}::uuid, 'stdout', 'info', 'x')`);
  await db.execute(sql`INSERT INTO request_log (id, time, organization_id, project_id, deployment_id, kind, http_method,
      http_status, is_error, outcome, duration_ms, request_bytes, response_bytes, principal)
    VALUES (${newId()}::uuid, now(), ${owner.id}::uuid, ${project.id}::uuid, ${deploymentId}::uuid, 'request', 'POST',
      200, false, 'ok', 1, 1, 1, 'anonymous')`);
  await seedOAuth(project.id, owner);
  const builds = await db.select({ id: build.id }).from(build).where(eq(build.projectId, project.id));
  const branches = await db.select({ id: branch.id }).from(branch).where(eq(branch.projectId, project.id));
  const ids = [project.id, deploymentId, instanceId, ...[...builds, ...branches].map((row) => row.id)];
  return { name: project.name, ids };
}

/** A client with a grant for the project, and what it got. */
async function seedOAuth(projectId: string, owner: SeededOrganization): Promise<void> {
  const { db } = suite.database;
  const userId = owner.owner.kind === "user" ? owner.owner.userId : "";
  const [clientId, grantId, id] = [newId(), newId(), newId()];
  const expiresAt = new Date(Date.now() + 86_400_000);
  const bound = { resource: `http://localhost:8080/${projectId}/mcp`, scopes: ["mcp"], expiresAt };
  await db.insert(oauthClient).values({
    id: clientId,
    kind: "registered",
    name: "Client",
    redirectUris: ["http://localhost/callback"],
    tokenEndpointAuthMethod: "none",
    grantTypes: ["authorization_code"],
  });
  await db.insert(oauthGrant).values({ id: grantId, userId, clientId, projectId, scopes: ["mcp"] });
  await db.insert(oauthAuthorization).values({
    id,
    requestHash: id,
    status: "exchanged",
    clientId,
    projectId,
    grantId,
    codeHash: id,
    redirectUri: "http://localhost/callback",
    codeChallenge: "x",
    ...bound,
  });
  await db.insert(oauthRefreshToken).values({ hash: newId(), grantId, familyId: id, ...bound });
  const returnAddress = "http://localhost/callback";
  await db.insert(oauthConsent).values({ id: newId(), userId, projectId, app: clientId, returnAddress, expiresAt });
}

/** Everything that better-auth's tables hold of an organization. */
async function withPeople(owner: SeededOrganization): Promise<void> {
  const [row] = await suite.database.db.select().from(member).where(eq(member.organizationId, owner.id));
  const userId = row?.userId ?? "";
  const tomorrow = new Date(Date.now() + 86_400_000);
  await suite.database.db.insert(invitation).values({
    id: newId(),
    organizationId: owner.id,
    email: "new@example.com",
    status: "pending",
    inviterId: userId,
    expiresAt: tomorrow,
  });
  await suite.database.db.insert(apikey).values({ id: newId(), hash: newId(), organizationId: owner.id });
  await suite.database.db
    .insert(session)
    .values({ id: newId(), userId, token: newId(), expiresAt: tomorrow, activeOrganizationId: owner.id });
}

/** The columns, of any name and table, that still hold one of these ids. */
async function traces(ids: readonly string[]): Promise<string[]> {
  const { rows } = await suite.database.db.execute<{ table: string; column: string; type: string }>(
    sql`SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type FROM information_schema.columns c
      JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'public'::regnamespace
      WHERE c.table_schema = 'public' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
        AND c.data_type IN ('uuid', 'text', 'jsonb', 'json')`,
  );
  const found: string[] = [];
  for (const { table, column, type } of rows) {
    // What is to be erased is known by its id for another day.
    if (table === "erasure") continue;
    const value = sql.identifier(column);
    const pattern = `(${ids.join("|")})`;
    const condition =
      type === "uuid"
        ? sql`${value} = ANY (${sql.param(`{${ids.join(",")}}`)}::uuid[])`
        : sql`${value}::text ~ ${pattern}`;
    const { rows: left } = await suite.database.db.execute(
      sql`SELECT 1 FROM ${sql.identifier(table)} WHERE ${condition}`,
    );
    if (left.length > 0) found.push(`${table}.${column}: ${left.length}`);
  }
  return found;
}

const policy = {
  requestLogDays: 30,
  serverLogDays: 14,
  buildLogDays: 30,
  auditDays: 365,
  endedBranchDays: 14,
  buildsPerBranch: 100,
  deploymentsPerBranch: 20,
};
async function sweep(): Promise<void> {
  const ctx = suite.as({ kind: "job", job: "sweep" });
  expect((await sweepRows({ ctx, input: { now: new Date(), policy } }))?.problems).toEqual([]);
}

test("PRJ-11 after a project's deletion no table contains its id or that of anything it had; other projects keep theirs", async () => {
  const [mine, kept, theirs] = [
    await fullProject(suite.organization),
    await fullProject(suite.organization),
    await fullProject(others),
  ];
  const before = [await traces(kept.ids), await traces(theirs.ids)];
  expect((await traces(mine.ids)).length).toBeGreaterThan(10);
  const input = { orgSlug: suite.organization.slug, projectName: mine.name, confirmation: mine.name };
  await deleteProject({ ctx: suite.as(suite.organization.owner), input });
  await sweep();
  expect(await traces(mine.ids)).toEqual([]);
  expect([await traces(kept.ids), await traces(theirs.ids)]).toEqual(before);
});

test.runIf(isThorough)(
  "PRJ-11 after an organization's deletion no table contains its id or that of its projects",
  async () => {
    const [mine, theirs] = [await fullProject(suite.organization), await fullProject(others)];
    await withPeople(suite.organization);
    await withPeople(others);
    const before = await traces([others.id, ...theirs.ids]);
    const input = { orgSlug: suite.organization.slug, confirmation: suite.organization.slug };
    expect(await deleteOrganization({ ctx: suite.as(suite.organization.owner), input })).toEqual({
      id: suite.organization.id,
    });
    await sweep();
    expect(await traces([suite.organization.id, ...mine.ids])).toEqual([]);
    expect(await traces([others.id, ...theirs.ids])).toEqual(before);
    const [entry] = await suite.database.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.subject, suite.organization.slug));
    expect(entry).toMatchObject({ action: "organization.delete", organizationId: null, detail: null });
    expect(entry?.actor).toMatch(/^user:/);
  },
);

test("PRJ-11 only owners can delete an organization, and must type its slug", async () => {
  const input = { orgSlug: suite.organization.slug, confirmation: suite.organization.slug };
  expect(await refusalCode(deleteOrganization({ ctx: suite.as(await suite.organization.join("admin")), input }))).toBe(
    "forbidden",
  );
  expect(await refusalCode(deleteOrganization({ ctx: suite.as(others.owner), input }))).toBe("forbidden");
  const unsure = deleteOrganization({
    ctx: suite.as(suite.organization.owner),
    input: { ...input, confirmation: others.slug },
  });
  expect(await refusal(unsure)).toMatchObject({ code: "invalid_input", fields: { confirmation: expect.any(String) } });
  await deleteOrganization({ ctx: suite.as(suite.organization.owner), input });
  expect(await refusalCode(deleteOrganization({ ctx: suite.as(suite.organization.owner), input }))).toBe("forbidden");
  // Its former owner can start again.
  expect(
    await createOrganization({ ctx: suite.as(suite.organization.owner), input: { name: "Another" } }),
  ).toHaveProperty("slug");
});

test.runIf(isThorough)(
  "PRJ-11 BLD-10 a deletion during rollouts waits for them or ends them, without deadlock",
  async () => {
    for (let round = 0; round < 8; round++) {
      const project = await seedProject(suite.database.db, suite.organization);
      const ctx = suite.as(suite.organization.owner);
      const key = { orgSlug: suite.organization.slug, projectName: project.name };
      const started = await Promise.all(
        ["main", "one", "two"].map((name) =>
          startBuild({ ctx, input: { ...key, branch: name, commitSha: shaOf(`${name}${round}`) } }),
        ),
      );
      const rollouts = started.map((each) => succeedBuild(suite.database.db, each.build.id).catch(() => "gone"));
      await deleteProject({ ctx, input: { ...key, confirmation: project.name } });
      await Promise.all(rollouts);
      expect(await suite.database.db.$count(build, eq(build.projectId, project.id))).toBe(0);
    }
  },
);
