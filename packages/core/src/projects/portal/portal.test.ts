import { auditLog, project, route } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { getAccess } from "../../calling/access/index.ts";
import type { Actor } from "../../context/index.ts";
import { getManifest } from "../../delivery/deployment/index.ts";
import {
  openOrganization,
  refusal,
  refusalCode,
  sampleManifest,
  seedLiveProject,
  seedOrganization,
  seedProject,
  testContext,
} from "../../testing/index.ts";
import { deleteProject, getProject, listProjects, updateProject } from "../project/index.ts";
import { createPortal, getPortal, listPortals, updatePortal } from "./index.ts";

const [tool] = sampleManifest().tools;
if (!tool) throw new Error("the sample has a tool");
const offering = (...names: string[]) => sampleManifest({ tools: names.map((tool_name) => ({ ...tool, tool_name })) });

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
let weather: string;
let wiki: string;
let count = 0;
beforeEach(async () => {
  const seed = async (name: string, ...tools: string[]) =>
    (await seedLiveProject(database.db, organization, { name: `${name}-${++count}` }, { manifest: offering(...tools) }))
      .name;
  weather = await seed("weather", "forecast", "search");
  wiki = await seed("wiki-pages", "page", "search");
});

const as = (actor: Actor = organization.owner) => testContext(database.db, actor);
type Create = Parameters<typeof createPortal>[0]["input"];
const create = (more: Partial<Create> = {}, actor: Actor = organization.owner) => {
  const servers = [
    { server: weather, prefix: "weather" },
    { server: wiki, prefix: "wiki" },
  ];
  const input = { orgSlug: organization.slug, name: `desk-portal-${++count}`, servers, ...more };
  return createPortal({ ctx: as(actor), input });
};
const scope = (projectName: string) => ({ orgSlug: organization.slug, projectName });
const toolNames = async (name: string) =>
  (await getManifest({ ctx: as(), input: scope(name) }))?.tools.map(({ tool_name }) => tool_name);

test("ORG-3 ORG-10 a portal has a name, an address and its servers' tools under names that differ; the audit log says who made it", async () => {
  const { id, name, url } = await create({ instructions: "  Ask the wiki first. " });
  expect(url).toBe(`http://localhost:8080/${name}/mcp`);
  const [label] = await database.db.select().from(route).where(eq(route.projectId, id));
  expect(label).toMatchObject({ label: name, targetKind: "portal", branchId: null, deploymentId: null });
  const view = await getPortal({ ctx: as(), input: scope(name) });
  expect(view).toMatchObject({ instructions: "Ask the wiki first.", revision: 1 });
  expect(view.servers.map(({ tools }) => tools.map(({ exposed }) => exposed))).toEqual([
    ["forecast", "weather_search"],
    ["page", "wiki_search"],
  ]);
  const names = ["forecast", "weather_search", "page", "wiki_search"];
  expect(await toolNames(name)).toEqual(names);
  expect(await getProject({ ctx: as(), input: scope(name) })).toMatchObject({ kind: "portal", isLive: true, url });
  const access = await getAccess({ ctx: as(), input: scope(name) });
  expect(access.knownTools.map((each) => each.name)).toEqual(names);
  expect(await listPortals({ ctx: as(), input: { orgSlug: organization.slug } })).toEqual([
    { id, name, pathName: name, authMode: "towpath-cloud", url, servers: [weather, wiki], tools: 4 },
  ]);
  const listed = await listProjects({ ctx: as(), input: { orgSlug: organization.slug } });
  expect(listed.map((each) => each.name)).toEqual([weather, wiki]);
  const entries = await database.db.select().from(auditLog).where(eq(auditLog.projectId, id)).orderBy(auditLog.id);
  expect(entries).toMatchObject([{ action: "portal.create", detail: { servers: [weather, wiki] } }]);
});

test("ORG-3 what a portal offers is chosen by server, and changed as a whole; two changes don't cross", async () => {
  const { name } = await create();
  const update = (more: object, actor: Actor = organization.owner) =>
    updatePortal({ ctx: as(actor), input: { ...scope(name), ...more } });
  const chosen = await update({
    servers: [
      { server: wiki, prefix: "wiki", tools: ["search"], prompts: [] },
      { server: weather, prefix: "weather", tools: ["forecast", "gone"] },
    ],
    revision: 1,
  });
  expect(chosen).toMatchObject({ revision: 2, servers: [{ name: wiki }, { chosen: { tools: ["forecast", "gone"] } }] });
  // Without the other one, the plain name is free again.
  expect(await toolNames(name)).toEqual(["search", "forecast"]);
  expect(await refusalCode(update({ instructions: "x", revision: 1 }))).toBe("conflict");
  expect(await update({ instructions: "Ask." })).toMatchObject({
    instructions: "Ask.",
    servers: [{}, {}],
    revision: 3,
  });
  await deleteProject({ ctx: as(), input: { ...scope(wiki), confirmation: wiki } });
  expect(await toolNames(name)).toEqual(["forecast"]);
});

test("ORG-3 what doesn't fit into a portal is refused beside its field", async () => {
  const stranger = await seedOrganization(database.db);
  const foreign = (await seedProject(database.db, stranger, { name: `foreign-${++count}` })).name;
  const { name: portalName } = await create();
  const own = (
    await seedProject(database.db, organization, { name: `own-sign-in-${++count}`, authMode: "passthrough" })
  ).name;
  const fieldsOf = async (...servers: Create["servers"]) => Object.keys((await refusal(create({ servers }))).fields);
  expect(await fieldsOf()).toEqual(["servers"]);
  expect(await fieldsOf({ server: foreign })).toEqual(["servers.0.server"]);
  expect(await fieldsOf({ server: weather }, { server: portalName })).toEqual(["servers.1.server"]);
  expect(await fieldsOf({ server: own })).toEqual(["servers.0.server"]);
  expect(await fieldsOf({ server: weather }, { server: weather.toUpperCase(), prefix: "b" })).toEqual([
    "servers.1.server",
  ]);
  expect(await fieldsOf({ server: weather, prefix: "a" }, { server: wiki, prefix: "A" })).toEqual(["servers.1.prefix"]);
  expect(await fieldsOf({ server: weather, prefix: "1a" })).toEqual(["servers.0.prefix"]);
  for (const [more, field] of [
    [{ name: weather }, "name"],
    [{ name: "short" }, "name"],
    [{ authMode: "passthrough" }, "authMode"],
  ] as const)
    expect(Object.keys((await refusal(create(more as Partial<Create>))).fields), field).toEqual([field]);
  const settings = { ...scope(portalName), isPublic: true };
  expect(Object.keys((await refusal(updateProject({ ctx: as(), input: settings }))).fields)).toEqual(["isPublic"]);
});

test("ORG-3 a server that starts to sign in its callers itself is shown as out of reach", async () => {
  const { name } = await create();
  await updateProject({ ctx: as(), input: { ...scope(wiki), authMode: "passthrough" } });
  const { servers } = await getPortal({ ctx: as(), input: scope(name) });
  expect(servers.map(({ problem }) => problem)).toEqual([null, "own_sign_in"]);
});

test("ORG-3 viewers make and change no portals, other organizations find none, and deleting one leaves its servers", async () => {
  const { id, name } = await create();
  const viewer = await organization.join("viewer");
  const { owner: stranger } = await seedOrganization(database.db);
  expect(await refusalCode(create({}, viewer))).toBe("forbidden");
  expect(await refusalCode(create({}, stranger))).toBe("forbidden");
  const change = { ...scope(name), instructions: "x" };
  expect(await refusalCode(updatePortal({ ctx: as(viewer), input: change }))).toBe("forbidden");
  expect(await refusalCode(updatePortal({ ctx: as(stranger), input: change }))).toBe("not_found");
  expect(await getPortal({ ctx: as(viewer), input: scope(name) })).toMatchObject({ revision: 1 });
  expect(await refusalCode(getPortal({ ctx: as(stranger), input: scope(name) }))).toBe("not_found");
  expect(await refusalCode(getPortal({ ctx: as(), input: scope(weather) }))).toBe("not_found");
  const { slug: orgSlug } = organization;
  expect(await refusalCode(listPortals({ ctx: as(stranger), input: { orgSlug } }))).toBe("forbidden");
  await deleteProject({ ctx: as(), input: { ...scope(name), confirmation: name } });
  expect(await database.db.$count(route, eq(route.projectId, id))).toBe(0);
  expect(await database.db.$count(project, and(eq(project.organizationId, organization.id)))).toBe(2);
});
