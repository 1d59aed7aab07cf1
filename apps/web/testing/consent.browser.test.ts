import { createHash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sampleManifest, sampleTool, seedExternalRoute, seedProject } from "@towpath/core/testing";
import { member } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, newPage, openBrowser, signIn } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, samplePassword, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let context: BrowserContext;
let page: Page;
let owner: Member;
let server: { readonly name: string; readonly resource: string };
/** The client's own page, which gets the answer. */
let client: Server;
let redirectUri: string;

beforeAll(async () => {
  client = createServer((_request, response) => response.end("back at the client"));
  await new Promise<void>((done) => client.listen(0, "127.0.0.1", done));
  redirectUri = `http://localhost:${(client.address() as AddressInfo).port}/callback`;
  owner = await seededMember(site.url, site.db);
  const { id, name } = await seedProject(site.db, owner.organization, { authMode: "towpath-cloud" });
  await seedExternalRoute(site.db, id, name);
  server = { name, resource: `http://localhost:8080/${name}/mcp` };
});
afterAll(() => {
  client.closeAllConnections();
  client.close();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  page = await newPage(context);
});

const codeVerifier = randomBytes(32).toString("base64url");

/** Registers a client under a name; returns its id and where it sends people. */
async function connectingClient(name: string, redirects = [redirectUri]) {
  const metadata = { client_name: name, redirect_uris: redirects, token_endpoint_auth_method: "none" };
  const response = await fetch(`${site.url}/oauth/register`, { method: "POST", body: JSON.stringify(metadata) });
  const { client_id: clientId } = (await response.json()) as { client_id: string };
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirects[0] ?? "",
    response_type: "code",
    state: "s1",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: server.resource,
  });
  return { clientId, url: `${site.url}/oauth/authorize?${parameters}` };
}

async function exchange(clientId: string, code: string): Promise<Response> {
  const fields = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: codeVerifier };
  return fetch(`${site.url}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) });
}

test("GW-5 AUTH-1 from a client's link through sign-in to consent and back, by keyboard, with a code that works", async () => {
  const { clientId, url } = await connectingClient("Friendly app");
  const { rows } = await site.pool.query(`SELECT email FROM "user" WHERE id = $1`, [owner.userId]);
  await page.goto(url);
  await page.getByLabel("Email").fill(rows[0].email);
  await page.getByLabel("Password").fill(samplePassword);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Connect Friendly app?" }).waitFor();
  const details = await page.locator("dl").textContent();
  for (const text of [server.name, server.resource, new URL(redirectUri).host, "Unknown"])
    expect(details).toContain(text);
  await page.getByText("Only continue if you just started this in an app on this computer").waitFor();
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Allow" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("back at the client").waitFor();
  const answer = new URL(page.url()).searchParams;
  expect([answer.get("state"), answer.get("iss")]).toEqual(["s1", site.url]);
  expect((await exchange(clientId, answer.get("code") ?? "")).status).toBe(200);
});

test("GW-5 the consent lists the tools, destructive ones marked and never folded behind others", async () => {
  await signIn(context, site.url, owner);
  const tools = Array.from({ length: 14 }, (_, at) =>
    sampleTool(`tool_${at}`, { annotations: at > 11 ? { destructiveHint: true } : null }),
  );
  await site.pool.query(
    "UPDATE external_server SET manifest = $1 FROM project WHERE project.id = project_id AND name = $2",
    [JSON.stringify(sampleManifest({ tools })), server.name],
  );
  const { url } = await connectingClient("Listing app");
  await page.goto(url);
  const list = page.getByRole("region", { name: "Tools" });
  await list.getByRole("heading", { name: "14 tools, 2 destructive" }).waitFor();
  expect(
    (await list.getByRole("listitem").filter({ visible: true }).allInnerTexts()).map((text) => text.split("\n")),
  ).toEqual([
    ["tool_12", "Destructive"],
    ["tool_13", "Destructive"],
    ...Array.from({ length: 6 }, (_, at) => [`tool_${at}`]),
  ]);
  await list.getByText("6 more").click();
  await expect.poll(() => list.getByRole("listitem").filter({ visible: true }).count()).toBe(14);
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)(
  "CAP-3 GW-5 who chooses not to be asked again sees no page when the app registers again, and Sign-ins says why",
  async () => {
    await signIn(context, site.url, owner);
    const first = await connectingClient("Forgetful app");
    await page.goto(first.url);
    const box = page.getByRole("checkbox", { name: "Don't ask again for 30 days when Forgetful app" });
    expect(await box.isChecked()).toBe(false);
    await box.check();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("back at the client").waitFor();
    const again = await connectingClient("Forgetful app");
    expect(again.clientId).not.toBe(first.clientId);
    await page.goto(again.url);
    await page.getByText("back at the client").waitFor();
    const code = new URL(page.url()).searchParams.get("code") ?? "";
    expect((await exchange(again.clientId, code)).status).toBe(200);
    await page.goto(`${site.url}/${owner.organization.slug}/${server.name}/sign-ins?client=Forgetful`);
    await page.getByText("The client registered again").waitFor();
    await expectAccessibleInBothThemes(page);
  },
);

test("GW-5 a client that opened a window of its own still knows it when it comes back", async () => {
  await signIn(context, site.url, owner);
  const { url } = await connectingClient("Window app");
  await page.goto(redirectUri);
  const opened = context.waitForEvent("page");
  await page.evaluate((address) => void window.open(address), url);
  const popup = await opened;
  await popup.getByRole("button", { name: "Allow" }).click();
  await popup.getByText("back at the client").waitFor();
  await expect.poll(() => popup.evaluate(() => window.opener !== null)).toBe(true);
  const response = await owner.visitor.get(`/${owner.organization.slug}/servers`);
  expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
});

test.runIf(isThorough)(
  "GW-5 an app that can't say which server it wants: the person chooses, and the token is for that one",
  async () => {
    const { clientId, url } = await connectingClient("Older app");
    const { name } = await seedProject(site.db, owner.organization, { authMode: "towpath-public" });
    const { rows } = await site.pool.query(`SELECT email FROM "user" WHERE id = $1`, [owner.userId]);
    const address = new URL(url);
    address.searchParams.delete("resource");
    await page.goto(address.href);
    await page.getByLabel("Email").fill(rows[0].email);
    await page.getByLabel("Password").fill(samplePassword);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Which server did you add to Older app?" }).waitFor();
    const servers = page.getByRole("list", { name: "Your servers" });
    await expect.poll(() => servers.textContent()).toContain(server.resource);
    await expect.poll(() => servers.textContent()).not.toContain(name);
    await expectAccessibleInBothThemes(page);
    await servers.getByRole("link", { name: server.name }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Connect Older app?" }).waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("back at the client").waitFor();
    const answer = new URL(page.url()).searchParams;
    expect(answer.get("state")).toBe("s1");
    const issued = await exchange(clientId, answer.get("code") ?? "");
    const { access_token: token } = (await issued.json()) as { access_token: string };
    expect(decodeJwt(token).aud).toBe(server.resource);
  },
);

test("GW-5 a person who may call no server sees that there is none to choose", async () => {
  const nobody = await seededMember(site.url, site.db);
  await signIn(context, site.url, nobody);
  const address = new URL((await connectingClient("Lost app")).url);
  address.searchParams.delete("resource");
  await page.goto(address.href);
  await page.getByRole("heading", { name: "No server to connect" }).waitFor();
  await expect.poll(() => page.getByRole("main").textContent()).not.toContain(server.name);
  await expectAccessible(page);
});

test("GW-5 canceling tells the client, and the same request can't be answered again", async () => {
  await signIn(context, site.url, owner);
  const { url } = await connectingClient("Canceled app");
  await page.goto(url);
  await page.getByRole("heading", { name: "Connect Canceled app?" }).waitFor();
  const consent = page.url();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("back at the client").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("error")).toBe("access_denied");
  await page.goto(consent);
  await page.getByRole("heading", { name: "This request has ended" }).waitFor();
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)(
  "GW-5 a refused request of an app that nobody has connected stays on a page, which leads back to the app",
  async () => {
    const { url } = await connectingClient("Broken app");
    await page.goto(url.replace("code_challenge_method=S256", "code_challenge_method=plain"));
    await page.getByRole("heading", { name: "This app can't be connected" }).waitFor();
    await expect
      .poll(() => page.getByRole("main").textContent())
      .toContain(`The app is at ${new URL(redirectUri).host}.`);
    await expectAccessibleInBothThemes(page);
    await page.getByRole("link", { name: "Back to the App" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("back at the client").waitFor();
    const answer = new URL(page.url()).searchParams;
    expect([answer.get("error"), answer.get("state"), answer.get("iss")]).toEqual(["invalid_request", "s1", site.url]);
  },
);

test("GW-5 a client's name is shown as text, however it reads", async () => {
  await signIn(context, site.url, owner);
  const name = `<img src=x onerror="document.title='run'"> ${"long".repeat(20)}`;
  const { url } = await connectingClient(name, ["https://app.example/callback"]);
  await page.goto(url);
  await page.getByRole("heading", { name: "Connect <img" }).waitFor();
  await page.getByText("Towpath can't check who made this app").waitFor();
  await expect.poll(() => page.locator("main img").count()).toBe(0);
  await expect.poll(() => page.title()).not.toBe("run");
  await expectAccessible(page);
});

test.runIf(isThorough)("GW-5 a person who isn't a member sees what to do, and can return to the client", async () => {
  const stranger = await seededMember(site.url, site.db);
  await signIn(context, site.url, stranger);
  const { url } = await connectingClient("Stranger's app");
  await page.goto(url);
  await page.getByRole("heading", { name: "You can't connect this server" }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Allow" }).count()).toBe(0);
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Back to the app" }).click();
  await page.getByText("back at the client").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("error")).toBe("access_denied");
});

test.runIf(isThorough)(
  "GW-5 PRJ-8 people disconnect an app on their account page, admins on the server's page of clients",
  async () => {
    const { clientId, url } = await connectingClient("Listed app");
    await signIn(context, site.url, owner);
    const connect = async () => {
      await page.goto(url);
      await page.getByRole("button", { name: "Allow" }).click();
      await page.getByText("back at the client").waitFor();
      const response = await exchange(clientId, new URL(page.url()).searchParams.get("code") ?? "");
      return (await response.json()) as { refresh_token: string };
    };
    const refreshStatus = async (token: string) => {
      const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token: token };
      return (await fetch(`${site.url}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) })).status;
    };
    const first = await connect();
    await page.goto(`${site.url}/account`);
    const own = page.getByRole("button", { name: `Disconnect Listed app from ${server.name}` });
    await own.waitFor();
    await expectAccessibleInBothThemes(page);
    await own.click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    // Behind an open dialog no button has a role.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await own.waitFor({ state: "detached" });
    expect(await refreshStatus(first.refresh_token)).toBe(400);

    const second = await connect();
    await page.goto(`${site.url}/${owner.organization.slug}/${server.name}/clients`);
    await page.getByRole("button", { name: "Disconnect Listed app" }).waitFor();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "Disconnect Listed app" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    // Behind an open dialog no button has a role.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Disconnect Listed app" }).waitFor({ state: "detached" });
    expect(await refreshStatus(second.refresh_token)).toBe(400);
  },
);

test.runIf(isThorough)(
  "PRJ-8 viewers see how to connect but not who is connected; an empty list says how clients get there",
  async () => {
    const viewer = await seededMember(site.url, site.db);
    const mine = eq(member.userId, viewer.userId);
    await site.db.update(member).set({ organizationId: owner.organization.id, role: "viewer" }).where(mine);
    await signIn(context, site.url, viewer);
    const { name } = await seedProject(site.db, owner.organization);
    const address = `${site.url}/${owner.organization.slug}/${name}/clients`;
    await page.goto(address);
    const connected = page.getByRole("heading", { name: "Connected by signing in" });
    await page.getByRole("tab", { name: "Claude Code" }).waitFor();
    await expect.poll(() => connected.count()).toBe(0);
    await site.db.update(member).set({ role: "member" }).where(mine);
    await page.goto(address);
    await connected.waitFor();
    await page.getByText("Nobody has connected a client yet").waitFor();
    await expectAccessible(page);
  },
);
