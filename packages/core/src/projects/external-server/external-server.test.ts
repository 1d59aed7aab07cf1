import { auditLog, externalServer, project, route } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { getAccess } from "../../calling/access/index.ts";
import type { Actor } from "../../context/index.ts";
import type { Inspection, InspectionTarget } from "../../ports/index.ts";
import {
  openOrganization,
  refusal,
  refusalCode,
  sampleManifest,
  sampleTool,
  seedOrganization,
  testContext,
} from "../../testing/index.ts";
import { deleteProject, getProject, listProjects, updateProject } from "../project/index.ts";
import {
  checkDueExternalServers,
  checkExternalServer,
  createExternalServer,
  getExternalServer,
  reachExternalServer,
  updateExternalServer,
} from "./index.ts";

const secrets = createSecretBox({ current: "a root secret of 32 characters..", previous: [] });

const manifestWith = (...tools: string[]) =>
  sampleManifest({ server: { name: "weather", version: "1.0" }, tools: tools.map((name) => sampleTool(name)) });

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
let asked: InspectionTarget[];
let answer: Inspection;
let serverCount = 0;
beforeEach(async () => {
  asked = [];
  answer = { ok: true, manifest: manifestWith("forecast"), icons: [] };
});

/** The network is the only thing that these tests replace. */
const as = (actor: Actor = organization.owner) =>
  testContext(database.db, actor, {
    secrets,
    externalServers: {
      reach: async (url) => (url.includes("gone") ? { code: "unreachable", message: "Gone." } : null),
      inspect: async (target) => {
        asked.push(target);
        return answer;
      },
      file: async (url) => Promise.reject(new Error(`Nothing is at ${url}.`)),
    },
  });
type Create = Parameters<typeof createExternalServer>[0]["input"];
const create = (more: Partial<Create> = {}, actor: Actor = organization.owner) => {
  const name = `weather-${++serverCount}-${organization.slug.slice(-6)}`;
  const input = { orgSlug: organization.slug, name, url: "https://weather.example/mcp", ...more };
  return createExternalServer({ ctx: as(actor), input });
};
const scope = (projectName: string) => ({ orgSlug: organization.slug, projectName });
const credential = { header: "Authorization", value: "Bearer token-123456" };
const unauthorized = { code: "needs_credentials", message: "It asks for a credential." };

test("ORG-9 ORG-10 an external server is inspected, listed beside hosted ones and routed at its name", async () => {
  const made = await create({ url: "https://weather.example/mcp?x=1", description: "Rain or shine" });
  expect(made).toMatchObject({ server: { name: "weather" }, counts: { tools: 1, prompts: 0 } });
  expect(made.url).toBe(`http://localhost:8080/${made.name}/mcp`);
  expect(asked).toEqual([{ url: "https://weather.example/mcp?x=1", credential: null }]);
  const [listed] = await listProjects({ ctx: as(), input: { orgSlug: organization.slug, text: "weather.example" } });
  expect(listed).toMatchObject({
    id: made.id,
    kind: "external",
    isLive: true,
    latestBuild: null,
    description: "Rain or shine",
    external: { url: "https://weather.example/mcp?x=1", problem: null },
  });
  expect(await getProject({ ctx: as(), input: scope(made.name) })).toMatchObject({ kind: "external", isLive: true });
  const [routed] = await database.db.select().from(route).where(eq(route.projectId, made.id));
  expect(routed).toMatchObject({ label: made.name, targetKind: "external", branchId: null });
  const access = await getAccess({ ctx: as(), input: scope(made.name) });
  expect(access).toMatchObject({ isLive: true, knownTools: [{ name: "forecast", isAllowed: true }] });
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.projectId, made.id));
  expect(entry).toMatchObject({ action: "externalServer.create", subject: made.name });
});

test("ORG-9 KEY-2 the credential is stored sealed for its origin, never shown, and each decryption is audited", async () => {
  const { id, name } = await create({ credential });
  expect(asked).toEqual([
    { url: "https://weather.example/mcp", credential: { name: "authorization", value: "Bearer token-123456" } },
  ]);
  const [row] = await database.db.select().from(externalServer).where(eq(externalServer.projectId, id));
  expect(JSON.stringify(row)).not.toContain("token-123456");
  const shown = await getExternalServer({ ctx: as(), input: scope(name) });
  expect(shown).toMatchObject({ credentialHeader: "authorization", problem: null });
  expect(JSON.stringify(shown)).not.toContain("token-123456");
  await checkExternalServer({ ctx: as(), input: scope(name) });
  expect(asked[1]?.credential?.value).toBe("Bearer token-123456");
  const entries = await database.db
    .select({ actor: auditLog.actor })
    .from(auditLog)
    .where(and(eq(auditLog.projectId, id), eq(auditLog.action, "externalServer.decrypt")));
  expect(entries).toHaveLength(1);
  // Somebody who can write to the table can't have it sent elsewhere.
  await database.db
    .update(externalServer)
    .set({ url: "https://evil.example/mcp" })
    .where(eq(externalServer.projectId, id));
  await expect(checkExternalServer({ ctx: as(), input: scope(name) })).rejects.toThrow("can't be decrypted");
  expect(asked).toHaveLength(2);
});

test("ORG-9 what can't be inspected is not added, and the refusal stands beside the field that cures it", async () => {
  answer = { ok: false, problem: unauthorized };
  const refused = await refusal(create());
  expect(refused).toMatchObject({ code: "invalid_input", fields: { credential: unauthorized.message } });
  answer = { ok: false, problem: { code: "tls", message: "No TLS." } };
  expect(await refusal(create())).toMatchObject({ fields: { url: "No TLS." } });
  expect(await database.db.$count(project, eq(project.organizationId, organization.id))).toBe(0);
  for (const [more, field] of [
    [{ url: "weather.example" }, "url"],
    [{ url: "ftp://weather.example/" }, "url"],
    [{ url: "https://u:p@weather.example/" }, "url"],
    [{ url: "http://localhost:8080/other/mcp" }, "url"],
    [{ name: "short" }, "name"],
    [{ authMode: "passthrough" }, "authMode"],
    [{ credential: { header: "Host", value: "x" } }, "credential.header"],
    [{ credential: { header: "Mcp-Session-Id", value: "x" } }, "credential.header"],
    [{ credential: { header: "x-key", value: "a\nb" } }, "credential.value"],
  ] as const) {
    asked = [];
    const { code, fields } = await refusal(create(more as Partial<Create>));
    expect([code, Object.keys(fields)], JSON.stringify(more)).toEqual(["invalid_input", [field]]);
    expect(asked).toEqual([]);
  }
  answer = { ok: true, manifest: manifestWith(), icons: [] };
  const { name } = await create();
  expect(await refusal(create({ name: name.toUpperCase() }))).toMatchObject({ fields: { name: expect.anything() } });
});

test("ORG-9 before it is added, an address says whether anything answers there", async () => {
  const reach = (url: string, actor: Actor = organization.owner) =>
    reachExternalServer({ ctx: as(actor), input: { orgSlug: organization.slug, url } });
  expect(await reach("https://weather.example/mcp")).toEqual({ host: "weather.example" });
  expect(await refusal(reach("https://gone.example/mcp"))).toMatchObject({ fields: { url: "Gone." } });
  expect(await refusal(reach("http://localhost:8080/x/mcp"))).toMatchObject({ fields: { url: expect.anything() } });
  expect(await refusalCode(reach("https://weather.example/mcp", await organization.join("viewer")))).toBe("forbidden");
});

test("ORG-9 another address needs its credential again; a failed inspection changes nothing; changes don't cross", async () => {
  const { name } = await create({ credential });
  const update = (more: object, actor: Actor = organization.owner) =>
    updateExternalServer({ ctx: as(actor), input: { ...scope(name), ...more } });
  expect(await refusal(update({ url: "https://other.example/mcp" }))).toMatchObject({
    fields: { credential: expect.stringContaining("https://weather.example only") },
  });
  // The same origin keeps it.
  expect(await update({ url: "https://weather.example/v2/mcp" })).toMatchObject({ revision: 2 });
  expect(asked.at(-1)?.credential?.value).toBe("Bearer token-123456");
  answer = { ok: false, problem: unauthorized };
  expect(await refusalCode(update({ credential: { header: "x-key", value: "new" } }))).toBe("invalid_input");
  answer = { ok: true, manifest: manifestWith("forecast", "radar"), icons: [] };
  expect((await getExternalServer({ ctx: as(), input: scope(name) })).url).toBe("https://weather.example/v2/mcp");
  const moved = await update({ url: "https://other.example/mcp", credential: null, revision: 2 });
  expect(moved).toMatchObject({ credentialHeader: null, url: "https://other.example/mcp", revision: 3 });
  expect(asked.at(-1)).toEqual({ url: "https://other.example/mcp", credential: null });
  expect(await refusalCode(update({ revision: 2 }))).toBe("conflict");
});

test("ORG-9 inspections that are due run by themselves; a server that is down keeps what it offered", async () => {
  const { id, name } = await create();
  await database.db
    .update(externalServer)
    .set({ nextCheckAt: new Date(0) })
    .where(eq(externalServer.projectId, id));
  const job = as({ kind: "job", job: "external-servers" });
  answer = { ok: false, problem: { code: "unreachable", message: "It takes no connections." } };
  expect(await checkDueExternalServers({ ctx: job, input: { limit: 5 } })).toBe(1);
  expect(await getExternalServer({ ctx: as(), input: scope(name) })).toMatchObject({
    problem: { code: "unreachable" },
    manifest: { tools: [{ tool_name: "forecast" }] },
  });
  expect(await checkDueExternalServers({ ctx: job, input: { limit: 5 } })).toBe(0);
  answer = { ok: true, manifest: manifestWith("forecast", "radar"), icons: [] };
  const checked = await checkExternalServer({ ctx: as(), input: scope(name) });
  expect(checked).toMatchObject({ problem: null, manifest: { tools: [{}, { tool_name: "radar" }] } });
  expect(await refusalCode(checkDueExternalServers({ ctx: as(), input: { limit: 5 } }))).toBe("forbidden");
});

test("ORG-9 PRJ-11 settings that only hosted servers have are refused, and deleting removes the address", async () => {
  const { id, name } = await create();
  for (const change of [
    { authMode: "passthrough" },
    { entrypoint: "server.py" },
    { sleepingLists: "always" },
  ] as const) {
    const input = { ...scope(name), ...change };
    expect(await refusalCode(updateProject({ ctx: as(), input }))).toBe("invalid_input");
  }
  const open = await updateProject({ ctx: as(), input: { ...scope(name), authMode: "towpath-public" } });
  expect(open).toMatchObject({ authMode: "towpath-public", isLive: true, external: { problem: null } });
  await deleteProject({ ctx: as(), input: { ...scope(name), confirmation: name } });
  expect(await database.db.$count(route, eq(route.projectId, id))).toBe(0);
});

test("ORG-9 viewers add and change nothing, and other organizations find nothing", async () => {
  const { name } = await create();
  const viewer = await organization.join("viewer");
  const { owner: stranger } = await seedOrganization(database.db);
  expect(await refusalCode(create({}, viewer))).toBe("forbidden");
  expect(await refusalCode(create({}, stranger))).toBe("forbidden");
  const input = scope(name);
  for (const verb of [updateExternalServer, checkExternalServer]) {
    expect(await refusalCode(verb({ ctx: as(viewer), input }))).toBe("forbidden");
    expect(await refusalCode(verb({ ctx: as(stranger), input }))).toBe("not_found");
  }
  expect(await getExternalServer({ ctx: as(viewer), input })).toMatchObject({ revision: 1 });
  expect(await refusalCode(getExternalServer({ ctx: as(stranger), input }))).toBe("not_found");
});
