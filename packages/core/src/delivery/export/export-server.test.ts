import { auditLog, build, project as projects } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { saveAccess } from "../../calling/access/index.ts";
import type { Actor } from "../../context/index.ts";
import {
  openOrganization,
  refusal,
  refusalCode,
  seedLiveProject,
  seedOrganization,
  seedProject,
  seedSecrets,
  testContext,
} from "../../testing/index.ts";
import { exportDocumentSchema } from "./export.schema.ts";
import { exportServer } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
const box = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });

const as = (actor: Actor) => testContext(database.db, actor, { secrets: box });
const exportBy = (actor: Actor, projectId: string) => exportServer({ ctx: as(actor), input: { projectId } });

/** A server whose live build says what it is of. */
async function liveServer(more: NonNullable<Parameters<typeof seedLiveProject>[2]> = {}) {
  const found = await seedLiveProject(database.db, organization, more);
  await database.db
    .update(build)
    .set({
      layers: { pythonVersion: "3.12.4", dependencies: "d".repeat(64), code: "c".repeat(64) },
      program: { entrypoint: "echo.py", arguments: ["--fast"] },
    })
    .where(eq(build.projectId, found.id));
  return found;
}

test("OPS-8 an export names what is live, its settings and variables without values, and is in the audit log", async () => {
  const server = await liveServer({ keepsData: true, authMode: "towpath-public" });
  await seedSecrets(database.db, box, server.id, { API_KEY: "a very secret value" });
  const member = await organization.join("member");
  const exported = await exportBy(member, server.id);
  expect(exportDocumentSchema.parse(exported.document)).toEqual(exported.document);
  expect(exported.document).toMatchObject({
    format: 1,
    name: server.name,
    python: "3.12.4",
    program: { entrypoint: "echo.py", arguments: ["--fast"] },
    source: { kind: "github", fullName: `acme/${server.name}`, branch: "main" },
    settings: { keepsData: true, authMode: "towpath-public" },
    access: null,
    variables: [{ keyName: "API_KEY", sensitive: true, environments: ["production", "preview"] }],
  });
  expect(JSON.stringify(exported)).not.toContain("a very secret value");
  expect([exported.layers.code, exported.repositoryId]).toEqual(["c".repeat(64), null]);
  expect(exported.surface?.tools.map(({ tool_name }) => tool_name)).toEqual(["echo"]);
  const own = and(eq(auditLog.projectId, server.id), eq(auditLog.action, "project.export"));
  expect(await database.db.select().from(auditLog).where(own)).toMatchObject([
    { actor: `user:${member.kind === "user" ? member.userId : ""}`, subject: server.name },
  ]);
});

test("OPS-8 GW-15 an access policy goes with it, without the keys that it names", async () => {
  const server = await liveServer();
  const access = { roles: ["owner" as const], apiKeys: [], tools: ["echo"] };
  await saveAccess({ ctx: as(organization.owner), input: { projectId: server.id, ...access } });
  const { document } = await exportBy(organization.owner, server.id);
  expect(document.access).toEqual({ roles: ["owner"], apiKeys: "chosen", tools: ["echo"] });
});

test("OPS-8 viewers and others can't export a server", async () => {
  const server = await liveServer();
  expect(await refusalCode(exportBy(await organization.join("viewer"), server.id))).toBe("forbidden");
  const others = await seedOrganization(database.db);
  expect(await refusalCode(exportBy(others.owner, server.id))).toBe("not_found");
});

test("OPS-8 what has nothing to export says so", async () => {
  const idle = await seedProject(database.db, organization);
  expect(await refusal(exportBy(organization.owner, idle.id))).toMatchObject({
    code: "conflict",
    message: expect.stringContaining("Nothing of"),
  });
  await database.db.update(projects).set({ kind: "portal" }).where(eq(projects.id, idle.id));
  expect(await refusal(exportBy(organization.owner, idle.id))).toMatchObject({
    code: "conflict",
    message: expect.stringContaining("is not built here"),
  });
  const early = await seedLiveProject(database.db, organization);
  expect(await refusal(exportBy(organization.owner, early.id))).toMatchObject({
    code: "conflict",
    message: expect.stringContaining("Build it again"),
  });
});
