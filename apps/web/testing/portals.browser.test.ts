import { newId } from "@towpath/core/ids";
import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { member, oauthClient, oauthGrant, portal, portalServer, project } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;

const [tool] = sampleManifest().tools;
if (!tool) throw new Error("the sample has a tool");
const offering = (...names: string[]) => ({
  manifest: sampleManifest({ tools: names.map((tool_name) => ({ ...tool, tool_name })) }),
});

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

const orgUrl = () => `${site.url}/${owner.organization.slug}`;

const expectGood = () => expectAccessibleInBothThemes(page);

test.runIf(isThorough)(
  "ORG-3 a portal is made of two servers, changed and deleted in the browser; names that collide are shown",
  async () => {
    await page.goto(`${orgUrl()}/portals`);
    await page.getByRole("heading", { name: "No portals yet" }).waitFor();
    await expectGood();
    const { organization } = owner;
    await seedLiveProject(site.db, organization, { name: "weather-api" }, offering("forecast", "search"));
    await seedLiveProject(site.db, organization, { name: "wiki-server" }, offering("page", "search"));
    await page.getByRole("link", { name: "New portal" }).click();
    await page.getByRole("heading", { name: "New portal" }).waitFor();
    await page.getByLabel("Portal name").fill("desk-portal");
    await page.getByRole("button", { name: "Create portal" }).click();
    await page.getByText("Choose at least one server").waitFor();
    for (const name of ["weather-api", "wiki-server"]) {
      await page.getByRole("combobox", { name: "Add a server" }).click();
      await page.getByRole("option", { name }).click();
      await page.getByRole("region", { name }).waitFor();
    }
    await page.getByText("weather-api_search").waitFor();
    await page.getByText("wiki-server_search").waitFor();
    await page.getByText("All of the organization's servers are in this portal.").waitFor();
    await page.getByRole("radio", { name: /^Open to anyone/ }).click();
    await page.getByText("Strangers see only servers that are open to anyone").waitFor();
    await page.getByRole("radio", { name: /^Members only/ }).click();
    await page.getByLabel("Prefix of wiki-server").fill("weather-api");
    await page.getByRole("button", { name: "Create portal" }).click();
    await page.getByText("Another server of this portal has the prefix weather-api.").waitFor();
    await page.getByLabel("Prefix of wiki-server").fill("wiki");
    await expectGood();
    await page.getByRole("button", { name: "Create portal" }).click();

    await page.waitForURL(/\/desk-portal$/);
    await page.getByRole("heading", { level: 1, name: "desk-portal" }).waitFor();
    await page.getByRole("link", { name: "Choose servers and tools" }).waitFor();
    await page.getByText("Call a tool in the inspector").waitFor();
    await expectGood();
    const sidebar = page.getByRole("navigation", { name: "Screens of desk-portal" });
    await expect.poll(() => sidebar.getByRole("link", { name: /^(Deployments|Chat)$/ }).count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Switch branch" }).count()).toBe(0);
    for (const name of ["Overview", "Try it", "Logs", "Settings"])
      await sidebar.getByRole("link", { name, exact: true }).waitFor({ state: "attached" });
    await sidebar.getByRole("link", { name: "Servers and tools" }).click();
    await page.getByRole("combobox", { name: "Tools of wiki-server" }).click();
    await page.getByRole("option", { name: "Only selected" }).click();
    await page.getByRole("checkbox", { name: /^search/ }).click();
    await expect.poll(() => page.getByText("weather-api_search").count()).toBe(0);
    await page.getByLabel("Instructions").fill("Ask the wiki first.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It applies from now on.").waitFor();
    await expectGood();
    const stored = await site.db
      .select({ prefix: portalServer.prefix, tools: portalServer.tools, instructions: portal.instructions })
      .from(portalServer)
      .innerJoin(portal, eq(portal.id, portalServer.portalId))
      .innerJoin(project, eq(project.id, portal.projectId))
      .where(eq(project.organizationId, organization.id))
      .orderBy(asc(portalServer.position));
    const instructions = "Ask the wiki first.";
    expect(stored).toEqual([
      { prefix: "weather-api", tools: null, instructions },
      { prefix: "wiki", tools: ["page"], instructions },
    ]);

    await page.getByRole("button", { name: "Switch server" }).click();
    await page.getByRole("dialog").getByRole("combobox").fill("wiki");
    await page.getByRole("option", { name: "wiki-server" }).waitFor();
    await page.keyboard.press("Enter");
    // A server has no screen of servers.
    await page.waitForURL(/\/wiki-server$/);
    await page.goto(`${orgUrl()}/desk-portal/tools/forecast`);
    await page.waitForURL(/\/surface\/tool\/forecast/);
    await page.goto(`${orgUrl()}/desk-portal/inspector`);
    await page
      .getByRole("option", { name: /forecast/ })
      .first()
      .waitFor();
    await page.goto(`${orgUrl()}/portals`);
    const row = page.getByRole("row", { name: /desk-portal/ });
    await row.getByText("weather-api, wiki-server").waitFor();
    await expect.poll(() => row.getByRole("cell").nth(2).textContent()).toMatch(/3$/);
    await expectGood();
    await page.goto(`${orgUrl()}/wiki-server/settings`);
    await page.getByRole("button", { name: "Delete server" }).click();
    await page.getByText("The portal desk-portal loses its tools.").waitFor();
    const [made] = await site.db.select().from(project).where(eq(project.name, "desk-portal"));
    const app = {
      id: newId(),
      kind: "registered" as const,
      name: "Desk app",
      tokenEndpointAuthMethod: "none" as const,
    };
    await site.db.insert(oauthClient).values({ ...app, redirectUris: ["http://localhost:1/callback"], grantTypes: [] });
    const grant = { id: newId(), userId: owner.userId, clientId: app.id, scopes: ["mcp"] };
    await site.db.insert(oauthGrant).values({ ...grant, projectId: made?.id ?? "" });
    await page.goto(`${orgUrl()}/desk-portal/settings`);
    await page.getByRole("button", { name: "Delete portal" }).click();
    const lost =
      "Its callers lose 3 tools of weather-api and wiki-server, and 1 connected app has to connect elsewhere.";
    await page.getByText(lost).waitFor();
    await page.getByText("Its servers are not changed.").waitFor();
    await page.getByRole("textbox", { name: /desk-portal/ }).fill("desk-portal");
    await page.getByRole("button", { name: "Delete portal" }).last().click();
    await page.getByRole("heading", { name: "No portals yet" }).waitFor();
    const own = and(eq(project.organizationId, organization.id), eq(project.kind, "portal"));
    expect(await site.db.$count(project, own)).toBe(0);
  },
);

test("ORG-3 OPS-4 scripts make, read and change portals by REST", async () => {
  const { organization } = owner;
  await seedLiveProject(site.db, organization, { name: "scripted-server" }, offering("look", "ask"));
  const headers = { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" };
  const send = async (method: string, path: string, body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${site.url}/api/v1/${path}`, init);
    return [answer.status, await answer.json()];
  };
  const portals = `organizations/${organization.slug}/portals`;
  const servers = [{ server: "scripted-server", tools: ["look"] }];
  const [created] = await send("POST", portals, { name: "scripted-portal", servers });
  expect(created).toBe(200);
  expect(await send("POST", portals, { name: "other-portal", servers: [{ server: "nobodys-server" }] })).toMatchObject([
    422,
    { error: { fields: { "servers.0.server": expect.stringContaining("nobodys-server") } } },
  ]);
  expect(await send("GET", portals)).toMatchObject([200, [{ name: "scripted-portal", tools: 1 }]]);
  const contents = "projects/scripted-portal/portal";
  expect(await send("PATCH", contents, { servers: [{ server: "scripted-server" }] })).toMatchObject([
    200,
    { revision: 2 },
  ]);
  expect(await send("GET", contents)).toMatchObject([
    200,
    { servers: [{ tools: [{ own: "look" }, { exposed: "ask" }] }] },
  ]);
});

test("ORG-3 viewers see portals, and are offered nothing that they may not do", async () => {
  const { organization } = owner;
  const { db } = site;
  await db.update(member).set({ role: "viewer" }).where(eq(member.userId, owner.userId));
  const server = await seedLiveProject(db, organization, { name: "viewed-server" }, offering("look"));
  const id = crypto.randomUUID();
  const portalId = crypto.randomUUID();
  const columns = { id, organizationId: organization.id, name: "viewed-portal", kind: "portal", entrypoint: "" };
  await db.insert(project).values(columns);
  await db.insert(portal).values({ id: portalId, projectId: id });
  await db.insert(portalServer).values({ portalId, projectId: server.id, position: 0, prefix: "viewed" });
  await page.goto(`${orgUrl()}/portals`);
  await page.getByRole("link", { name: "viewed-portal" }).click();
  await page.getByRole("link", { name: "Servers and tools" }).last().click();
  await page.getByText("Viewers can't change portals.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: /^(Save|Remove)/ }).count()).toBe(0);
});
