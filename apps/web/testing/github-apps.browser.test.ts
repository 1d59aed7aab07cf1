import { atHost, numberOf } from "@towpath/core/sources/github-connection/numbers";
import { seedProject } from "@towpath/core/testing";
import {
  auditLog,
  githubCheck,
  githubConnection,
  githubInstallation,
  project,
  webhookDelivery,
} from "@towpath/db/schema";
import { type GitHubStandIn, gitHubSettings, startGitHub } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, newPage, openBrowser, signIn } from "./browser.ts";
import { openSite } from "./site.ts";
import { operatorEnvironment, runTerminal } from "./terminal.ts";
import { type Member, seededMember } from "./visitor.ts";

// An instance without any GitHub App, and a host with the manifest flow. These tests run in order.

const site = openSite(() => ({ TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8,::1" }));
const browser = openBrowser();
let gitHub: GitHubStandIn;
let page: Page;
let owner: Member;

beforeAll(async () => {
  const hostSettings = gitHubSettings(`http://localhost:${await freePort()}`);
  gitHub = await startGitHub({ settings: hostSettings, webUrl: site.url });
  owner = await seededMember(site.url, site.db);
  const { id } = owner.organization;
  await site.db.delete(githubInstallation).where(eq(githubInstallation.organizationId, id));
  const context = await browser.newContext();
  await signIn(context, site.url, owner);
  page = await newPage(context);
});
afterAll(() => gitHub.close());

const settings = () => `${site.url}/${owner.organization.slug}/settings/github`;
const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();
const app = () => page.getByRole("article", { name: /^towpath-.* \(GitHub at localhost:\d+\)$/ });
const rows = () => site.db.select().from(githubConnection);

test("GH-5 an App is connected from the settings: host, GitHub's page, back, and it works without a restart", async () => {
  await page.goto(`${gitHub.url}/login`);
  await page.locator('input[name="login"]').fill("ada-codes");
  await press(/continue/i);
  // Onboarding leads there.
  await page.goto(`${site.url}/${owner.organization.slug}/welcome/connect-github?success=false`);
  await page.getByText("This instance is not connected to GitHub yet.").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.waitForURL(settings());
  await page.getByRole("heading", { name: "Connect this instance to GitHub" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("radio", { name: "GitHub Enterprise" }).click();
  await page.getByRole("textbox", { name: "Host" }).fill("not a host");
  await press("Continue to the host");
  await page.getByText("Type the host's name, such as github.example.com").waitFor();
  expect(await page.getByRole("textbox", { name: "Host" }).getAttribute("aria-invalid")).toBe("true");
  // The same addresses as for Git URLs: never cloud metadata, and private networks only if the operator allows them.
  for (const host of ["https://169.254.169.254", "https://10.1.2.3"]) {
    await page.getByRole("textbox", { name: "Host" }).fill(host);
    await press("Continue to the host");
    await page
      .getByText(/is not a host on the public internet\. If it is in a private network.*TOWPATH_EXTERNAL/)
      .waitFor();
    await page.getByText(new URL(host).hostname).first().waitFor();
  }
  await page.getByRole("textbox", { name: "Host" }).fill(gitHub.url);
  await press("Continue to the host");
  await page.waitForURL(`${gitHub.url}/settings/apps/new?**`);
  await press("Create GitHub App");
  await page.waitForURL(`${settings()}**`);
  await app().getByText("Works").waitFor();
  await app().getByText("owned by ada-codes").waitFor();
  const [row] = await rows();
  expect(row).toMatchObject({ url: gitHub.url, apiUrl: `${gitHub.url}/api/v3`, ownerLogin: "ada-codes" });
  await expectAccessible(page);
});

test("GH-5 accounts of a connected App are connected, and its webhooks come by its own path and secret", async () => {
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.waitForURL(`${gitHub.url}/**`);
  await press(/^Authorize/);
  await press(/^Install/);
  await page.waitForURL(settings());
  await page.getByRole("article", { name: "ada-codes", exact: true }).getByText("Connected", { exact: true }).waitFor();
  const [row] = await rows();
  const [installation] = await site.db.select().from(githubInstallation);
  expect(atHost(installation?.installationId ?? 0)).toEqual({ connection: row?.number, id: 1 });
  await expect
    .poll(async () =>
      (await site.db.select().from(webhookDelivery)).map(({ event, connection }) => [event, connection]),
    )
    .toEqual([["installation", row?.number]]);
  for (const path of ["", "/nonsense", `/${row?.id}`]) {
    const response = await fetch(`${site.url}/api/github/webhooks${path}`, {
      method: "POST",
      body: "{}",
      headers: { "x-github-event": "push", "x-hub-signature-256": "sha256=00" },
    });
    expect([path, response.status]).toEqual([path, 401]);
  }
});

test("GH-5 keys and webhook secret are changed there; a key that GitHub refuses is not taken", async () => {
  await app().getByRole("button", { name: "Keys" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Save keys" }).click();
  await dialog.getByText("Paste a key or a secret.").waitFor();
  await dialog.getByLabel("Private key").fill("not a key");
  await dialog.getByRole("button", { name: "Save keys" }).click();
  await dialog.getByText("This is no private key of a GitHub App.").waitFor();
  await dialog.getByLabel("Private key").fill(gitHub.gitHubConfig.privateKey);
  await dialog.getByRole("button", { name: "Save keys" }).click();
  await dialog.getByText("This key doesn't belong to the App").waitFor();
  expect((await rows())[0]?.version).toBe(1);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await app().getByRole("button", { name: "Change webhook secret" }).click();
  await dialog.getByRole("button", { name: "Change secret" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await rows())[0]?.version).toBe(2);
  // Webhooks signed with the new secret arrive.
  const before = await site.db.$count(webhookDelivery);
  await page.request.post(`${gitHub.url}/settings/installations/1/uninstall`);
  await expect.poll(() => site.db.$count(webhookDelivery)).toBe(before + 1);
});

test("GH-5 OPS-4 the operator reads, rotates and removes Apps over REST", async () => {
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${site.url}/api/v1/github-apps${path}`, {
      method,
      headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const [row] = await rows();
  const list = await call("GET", "");
  expect(await list.json()).toMatchObject([
    { id: row?.id, slug: row?.appSlug, owner: "ada-codes", suspended: [], problems: [] },
  ]);
  expect((await call("POST", `/${crypto.randomUUID()}/webhook-secret`)).status).toBe(404);
  expect((await call("PATCH", `/${row?.id}`, { privateKey: "not a key" })).status).toBe(422);
  expect((await call("PATCH", `/${row?.id}`, { clientSecret: "another secret" })).status).toBe(200);
  expect((await rows())[0]?.version).toBe(3);
  expect((await call("DELETE", `/${row?.id}?confirm=other`)).status).toBe(422);
  expect((await call("DELETE", `/${crypto.randomUUID()}?confirm=x`)).status).toBe(404);
  expect(await rows()).toHaveLength(1);
});

test("GH-5 OPS-4 on the instance's machine the terminal shows an App's problems, replaces its secrets, and removes it by its name only", async () => {
  const env = await operatorEnvironment(site);
  const github = (...args: string[]) => runTerminal({ env }, "github", ...args);
  const [row] = await rows();
  const slug = row?.appSlug ?? "";
  const shown = await github();
  expect([shown.status, shown.stderr]).toEqual([0, ""]);
  expect(shown.stdout).toContain(`${slug}  works  GitHub at localhost:`);
  expect(shown.stdout).toMatch(/owned by ada-codes · connected .*\n {2}accounts {2}ada-codes\n/);
  expect(JSON.parse((await github("--json")).stdout)).toMatchObject([{ id: row?.id, slug, problems: [] }]);
  const { stdout } = await github("connect");
  expect(stdout.startsWith(`${settings()}\nSign in there as an owner of `)).toBe(true);

  const refused = await runTerminal({ env, input: "not a key" }, "github", "rotate", slug, "private-key");
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("no private key of a GitHub App")]);
  const unknown = await github("rotate", `${slug}x`, "webhook-secret");
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining(`Did you mean ${slug}?`)]);
  const secret = await runTerminal({ env, input: "s3cret-of-the-app\n" }, "github", "rotate", slug, "client-secret");
  expect([secret.status, secret.stdout]).toEqual([0, expect.stringContaining(`client secret of ${slug} was replaced`)]);
  expect(`${secret.stdout}${secret.stderr}`).not.toContain("s3cret");
  expect((await github("rotate", slug, "webhook-secret")).status).toBe(0);
  expect((await rows())[0]?.version).toBe(5);
  // Webhooks signed with the new secret arrive.
  const before = await site.db.$count(webhookDelivery);
  const { installationId } = await gitHub.admin.ensureInstallation({ login: "ada-codes" });
  await page.request.post(`${gitHub.url}/settings/installations/${installationId}/uninstall`);
  await expect.poll(() => site.db.$count(webhookDelivery)).toBeGreaterThan(before);

  expect((await github("remove", slug)).status).toBe(2);
  expect((await github("remove", slug, "--yes", "other")).stderr).toContain("Nothing was removed.");
  expect(await rows()).toHaveLength(1);
});

test.runIf(isThorough)(
  "GH-6 a server's settings say when its repository was asked, and that webhooks don't arrive",
  async () => {
    const number = (await rows())[0]?.number ?? 0;
    const { admin } = gitHub;
    const { installationId } = await admin.ensureInstallation({ login: "ada-codes" });
    const { repository } = await admin.ensureRepository({ owner: "ada-codes", name: "echo" });
    const { name } = await seedProject(site.db, owner.organization, {
      installationId: numberOf(number, installationId),
      repositoryId: numberOf(number, repository.id),
      repositoryFullName: repository.full_name,
    });
    await page.goto(`${site.url}/${owner.organization.slug}/${name}/settings`);
    const known = page.getByRole("region", { name: "How pushes become known" });
    await known.getByText("Not checked yet.").waitFor();
    await known.getByRole("button", { name: "Check now" }).click();
    await known.getByText(/^Checked /).waitFor();
    await known.getByText("None has arrived yet, so Towpath also checks.").waitFor();
    await site.db.update(githubCheck).set({ missedAt: new Date() });
    await page.reload();
    await known.getByText(/^Checked .*, because webhooks don't arrive\./).waitFor();
    await expectAccessible(page);
    await site.db.delete(githubCheck);
    await site.db.delete(project);
  },
);

test("GH-5 an App is removed there, after its name was typed, with what that means", async () => {
  await page.goto(settings());
  await app().getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("No server is built from repositories of this App.").waitFor();
  await dialog.getByRole("textbox").fill((await rows())[0]?.appSlug ?? "");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "Connect this instance to GitHub" }).waitFor();
  expect(await rows()).toEqual([]);
  const actions = await site.db.select({ action: auditLog.action }).from(auditLog).orderBy(auditLog.createdAt);
  expect(actions.map(({ action }) => action).filter((action) => action.startsWith("github."))).toEqual([
    "github.connect",
    "github.rotate",
    "github.rotate",
    "github.rotate",
    "github.rotate",
    "github.remove",
  ]);
});

test("GH-5 a page of another organization doesn't show the instance's Apps; a code without its state connects nothing", async () => {
  const stranger = await seededMember(site.url, site.db);
  const shown = await stranger.visitor.get(`/${stranger.organization.slug}/settings/github`);
  expect(await shown.text()).not.toContain("Connect this instance to GitHub");
  const welcome = await stranger.visitor.get(`/${stranger.organization.slug}/welcome/connect-github?success=false`);
  expect(await welcome.text()).toContain("GitHub is not set up on this instance");
  for (const path of ["/api/github/apps/new?state=x", "/api/github/apps/created?state=x&code=y"]) {
    const response = await owner.visitor.get(path);
    expect([path, response.status, response.headers.get("location")]).toEqual([path, 302, "/?problem=expired"]);
  }
  expect(await rows()).toEqual([]);
});
