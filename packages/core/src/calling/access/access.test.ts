import { accessPolicy, apikey, auditLog, build } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { type Actor, type Role, roles } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { updateProject } from "../../projects/project/index.ts";
import { createApiKey } from "../../tenancy/api-key/index.ts";
import {
  refusalCode,
  sampleManifest,
  sampleTool,
  seedLiveVersion,
  seedOrganization,
  seedProject,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { getAccess, saveAccess } from "./index.ts";

const suite = openProjectSuite();
const { as, at } = suite;
type Policy = Omit<Parameters<typeof saveAccess>[0]["input"], "orgSlug" | "projectName" | "projectId">;
const defaults = { roles: ["owner", "admin", "member"], apiKeys: "all", tools: "all" } as const;
const save = (policy: Partial<Policy>, actor: Actor = suite.organization.owner) =>
  saveAccess({ ctx: as(actor), input: { ...at(), ...defaults, roles: [...defaults.roles], ...policy } as never });
const read = (actor: Actor = suite.organization.owner) => getAccess({ ctx: as(actor), input: at() });
const newKey = (name: string) =>
  createApiKey({
    ctx: as(suite.organization.owner),
    input: { orgSlug: suite.organization.slug, kind: "organization", name },
  });

const outcomeOf = (verb: Promise<unknown>) =>
  verb.then(
    () => "done",
    (error: unknown) => (error instanceof TowpathError ? error.code : Promise.reject(error)),
  );

/** Makes a version live in production whose manifest has these tools. */
const goLive = async (...tools: string[]) =>
  seedLiveVersion(suite.database.db, suite.project, {
    label: suite.project.name,
    sequence: (await suite.database.db.$count(build)) + 1,
    manifest: sampleManifest({ tools: tools.map((name) => sampleTool(name)) }),
  });

test("GW-15 without a policy the roles with `server.call`, all keys and all tools may, and nothing is stored", async () => {
  await goLive("echo");
  expect(await read()).toMatchObject({ ...defaults, revision: 0, isLive: true, authMode: "towpath-cloud" });
  expect((await read()).knownTools).toMatchObject([{ name: "echo", isAllowed: true, isNew: false, isLive: true }]);
  expect(await suite.database.db.$count(accessPolicy, eq(accessPolicy.projectId, suite.project.id))).toBe(0);
});

test("GW-15 ORG-10 a saved policy is read back, and the audit log says how it was before and after", async () => {
  const key = await newKey("CI");
  const policy = { roles: ["owner", "viewer"], apiKeys: [key.id], tools: ["echo", "echo"] } as const;
  const saved = await save(policy as never);
  expect(saved).toMatchObject({ roles: ["owner", "viewer"], apiKeys: [key.id], tools: ["echo"], revision: 1 });
  expect(await read()).toEqual(saved);
  const [entry] = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, suite.project.id), eq(auditLog.action, "access.update")));
  expect(entry?.detail).toEqual({
    before: { ...defaults, roles: [...defaults.roles] },
    after: { roles: ["owner", "viewer"], apiKeys: [key.id], tools: ["echo"] },
  });
  // Later versions may give other roles the permission to call: the defaults are not frozen.
  expect(await save({})).toMatchObject({ ...defaults, revision: 2 });
  const [row] = await suite.database.db.select().from(accessPolicy).where(eq(accessPolicy.projectId, suite.project.id));
  expect(row).toMatchObject({ roles: null, apiKeyIds: null, tools: null });
});

test("GW-15 tools that a later version adds are new and not allowed; those that it lacks stay in the list", async () => {
  await goLive("echo", "drop");
  await save({ tools: ["echo"] });
  await goLive("purge", "echo");
  expect((await read()).knownTools.map((tool) => [tool.name, tool.isAllowed, tool.isNew, tool.isLive])).toEqual([
    ["purge", false, true, true],
    ["echo", true, false, true],
  ]);
  await save({ tools: ["echo", "purge"] });
  await goLive("purge");
  expect((await read()).knownTools.map((tool) => [tool.name, tool.isAllowed, tool.isNew, tool.isLive])).toEqual([
    ["purge", true, false, true],
    ["echo", true, false, false],
  ]);
});

test("GW-15 KEY-3 only the organization's keys that can reach the server are offered; personal keys go by role", async () => {
  const elsewhere = await seedProject(suite.database.db, suite.organization);
  const all = await newKey("all");
  const make = (more: { kind: "organization" | "personal"; projectIds?: string[] }) =>
    createApiKey({
      ctx: as(suite.organization.owner),
      input: { orgSlug: suite.organization.slug, name: "k", ...more },
    });
  const here = await make({ kind: "organization", projectIds: [suite.project.id] });
  const others = [await make({ kind: "organization", projectIds: [elsewhere.id] }), await make({ kind: "personal" })];
  expect((await read()).keys.map(({ id }) => id)).toEqual([here.id, all.id]);
  for (const { id } of others) expect(await refusalCode(save({ apiKeys: [id] }))).toBe("invalid_input");
});

test("GW-15 a deleted key leaves the list without letting all others in", async () => {
  const [gone, kept] = [await newKey("gone"), await newKey("kept")];
  await save({ apiKeys: [gone.id] });
  await suite.database.db.delete(apikey).where(eq(apikey.id, gone.id));
  const view = await read();
  expect([view.apiKeys, view.keys.map(({ id }) => id)]).toEqual([[], [kept.id]]);
});

test("GW-15 when two people change it at once, the second gets a conflict and changes nothing", async () => {
  const { revision } = await read();
  await save({ roles: ["owner"], revision });
  expect(await refusalCode(save({ roles: ["viewer"], revision }))).toBe("conflict");
  expect((await read()).roles).toEqual(["owner"]);
  expect(await save({ roles: ["admin"], revision: 1 })).toMatchObject({ roles: ["admin"], revision: 2 });
});

test("GW-15 admins set who may call, members see it, viewers and other organizations neither", async () => {
  const others = await seedOrganization(suite.database.db);
  const may = async (role: Role) => {
    const actor = await suite.organization.join(role);
    return [await outcomeOf(read(actor)), await outcomeOf(save({}, actor))];
  };
  expect(Object.fromEntries(await Promise.all(roles.map(async (role) => [role, await may(role)])))).toEqual({
    owner: ["done", "done"],
    admin: ["done", "done"],
    member: ["done", "forbidden"],
    viewer: ["forbidden", "forbidden"],
  });
  expect([await refusalCode(read(others.owner)), await refusalCode(save({}, others.owner))]).toEqual([
    "not_found",
    "not_found",
  ]);
});

test("GW-15 what makes no sense is refused: no caller at all, unknown roles and keys, keys of others", async () => {
  const others = await seedOrganization(suite.database.db);
  const theirs = await createApiKey({
    ctx: as(others.owner),
    input: { orgSlug: others.slug, kind: "organization", name: "x" },
  });
  const wrong: Partial<Record<keyof Policy, unknown>>[] = [
    { roles: [], apiKeys: [] },
    { roles: ["emperor"] },
    { apiKeys: ["x"] },
    { apiKeys: [newId()] },
    { apiKeys: [theirs.id] },
    { tools: [""] },
    { tools: "none" },
    { roles: undefined },
  ];
  for (const policy of wrong)
    expect([policy, await refusalCode(save(policy as never))]).toEqual([policy, "invalid_input"]);
  expect((await read()).revision).toBe(0);
});

test("GW-15 a member can't open a server whose callers an admin has restricted, by another auth mode", async () => {
  const member = await suite.organization.join("member");
  const open = (actor: Actor, authMode: "towpath-public" | "towpath-cloud") =>
    updateProject({ ctx: as(actor), input: { ...at(), authMode } });
  expect(await outcomeOf(open(member, "towpath-public"))).toBe("done");
  await open(member, "towpath-cloud");
  await save({ roles: ["owner"] });
  expect(await refusalCode(open(member, "towpath-public"))).toBe("forbidden");
  const description = updateProject({ ctx: as(member), input: { ...at(), description: "still mine" } });
  expect(await description).toMatchObject({ authMode: "towpath-cloud", description: "still mine" });
  expect(await outcomeOf(open(await suite.organization.join("admin"), "towpath-public"))).toBe("done");
});
