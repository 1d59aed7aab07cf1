import { externalServer, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { openOrganization, sampleManifest, seedLiveProject, seedProject } from "../../testing/index.ts";
import { getRegistryEntry, listRegistryNames, listRegistryVersions } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
beforeEach(() => database.db.delete(project));

const baseUrl = "https://towpath.example.com";
const context = () => ({ db: database.db, serverUrlTemplate: "https://{name}.example.com" });
const entryOf = (projectName: string) => getRegistryEntry({ ctx: context(), input: { projectName, baseUrl } });
const versions = async (more: Partial<Parameters<typeof listRegistryVersions>[0]["input"]> = {}) =>
  (await listRegistryVersions({ ctx: context(), input: { limit: 100, ...more } })).map(
    ({ projectName, sequence, isLatest }) => `${projectName} ${sequence}${isLatest ? " latest" : ""}`,
  );

test("PUB-10 PUB-16 registry data of a public project: name, title, description and meta, and what is live", async () => {
  const server = { name: "lock", version: "2.0.0", title: "Lock keeper" };
  const more = { name: "Lock-Keeper", isPublic: true, description: "Knows locks.", authMode: "towpath-public" };
  await seedLiveProject(database.db, organization, more, { manifest: sampleManifest({ server }) });
  const entry = await entryOf("lock-KEEPER");
  expect(entry).toMatchObject({
    projectName: "Lock-Keeper",
    title: "Lock keeper",
    description: "Knows locks.",
    authMode: "towpath-public",
    url: "https://lock-keeper.example.com/mcp",
    repository: "acme/Lock-Keeper",
    manifest: { tools: [{ tool_name: "echo" }] },
    meta: { canonicalUrl: `${baseUrl}/app/lock-keeper` },
  });
  expect(entry?.meta.themeColor).toMatch(/^#[0-9a-f]{6}$/);
  expect(decodeURIComponent(entry?.meta.favicon ?? "")).toMatch(/^data:image\/svg\+xml,<svg.*>L<\/text><\/svg>$/);
});

test("PUB-11 a private project and an unknown one get the same answers", async () => {
  await seedLiveProject(database.db, organization, { name: "secret-one", isPublic: false });
  for (const name of ["secret-one", "SECRET-ONE", "nobody-has-it", "", "%", "'; --"])
    expect([name, await entryOf(name)]).toEqual([name, null]);
  expect(await versions()).toEqual([]);
  expect(await listRegistryNames({ ctx: context(), input: { limit: 10 } })).toEqual([]);
});

test("PUB-10 a public project without a live server has an entry, but no place in the registry or sitemap", async () => {
  await seedProject(database.db, organization, { name: "not-yet-live", isPublic: true });
  expect(await entryOf("not-yet-live")).toMatchObject({
    manifest: null,
    liveAt: null,
    title: "not-yet-live",
    description: "An MCP server.",
  });
  expect(await versions()).toEqual([]);
  expect(await listRegistryNames({ ctx: context(), input: { limit: 10 } })).toEqual([]);
});

test("PUB-10 ORG-9 a public server elsewhere shows what its last inspection found", async () => {
  const { id: projectId } = await seedProject(database.db, organization, {
    name: "distant-server-one",
    isPublic: true,
    kind: "external",
  });
  const manifestAt = new Date();
  const elsewhere = { id: newId(), projectId, url: "https://mcp.example.net/mcp" };
  await database.db.insert(externalServer).values({ ...elsewhere, manifest: sampleManifest(), manifestAt });
  expect(await entryOf("distant-server-one")).toMatchObject({
    liveAt: manifestAt.toISOString(),
    url: "https://distant-server-one.example.com/mcp",
    manifest: { tools: [{ tool_name: "echo" }] },
  });
});

test("PUB-10 without a description the server speaks for itself, and a private repository is not named", async () => {
  const instructions = "Ask for a lock.\n\nThen wait.";
  const more = { name: "speaks-itself", isPublic: true, repositoryPrivate: true };
  await seedLiveProject(database.db, organization, more, { manifest: sampleManifest({ instructions }) });
  expect(await entryOf("speaks-itself")).toMatchObject({ description: "Ask for a lock.", repository: null });
  await seedLiveProject(database.db, organization, { name: "says-nothing", isPublic: true });
  expect(await entryOf("says-nothing")).toMatchObject({ description: "An MCP server with 1 tool." });
});

test("PUB-14 versions are the production deployments of public projects: by name, newest first, what is live marked", async () => {
  await seedLiveProject(database.db, organization, { name: "beta-server", isPublic: true }, { sequences: [1, 3, 2] });
  await seedLiveProject(database.db, organization, { name: "Alpha-server", isPublic: true }, { sequences: [7] });
  const all = ["Alpha-server 7 latest", "beta-server 3", "beta-server 2 latest", "beta-server 1"];
  expect(await versions()).toEqual(all);
  expect(await versions({ version: "latest" })).toEqual(["Alpha-server 7 latest", "beta-server 2 latest"]);
  expect(await versions({ version: 3 })).toEqual(["beta-server 3"]);
  expect(await versions({ name: "BETA-server" })).toEqual(all.slice(1));
  expect(await versions({ search: "ALPHA" })).toEqual(all.slice(0, 1));
  expect(await versions({ search: "%" })).toEqual([]);
  expect(await versions({ after: { name: "beta-server", sequence: 3 }, limit: 1 })).toEqual(["beta-server 2 latest"]);
});

test("PUB-14 what has changed since a time: a deployment, a change of the project", async () => {
  const { id } = await seedLiveProject(database.db, organization, { name: "old-server", isPublic: true });
  const later = new Date(Date.now() + 60_000);
  expect(await versions({ updatedSince: new Date(Date.now() - 60_000) })).toEqual(["old-server 1 latest"]);
  expect(await versions({ updatedSince: later })).toEqual([]);
  await database.db
    .update(project)
    .set({ updatedAt: new Date(Date.now() + 120_000) })
    .where(eq(project.id, id));
  expect(await versions({ updatedSince: later })).toEqual(["old-server 1 latest"]);
});
