import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitSource, project } from "@towpath/db/schema";
import { commitFiles, type GitServer, git, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let directory: string;
let open: GitServer;
let closed: GitServer;
let page: Page;
let owner: Member;
const token = "glpat-of-a-test";

const files = {
  "server.py": 'import os\nfrom fastmcp import FastMCP\nmcp = FastMCP("weather")\nos.environ["WEATHER_KEY"]\n',
  "pyproject.toml":
    '[project]\nname = "weather"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["fastmcp"]\n',
  ".env.example": "WEATHER_KEY=\n",
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-new-server-"));
  const repository = join(directory, "acme/weather-station");
  await makeRepository(repository, files);
  await git(repository, "checkout", "--quiet", "-b", "next");
  await commitFiles(repository, { "more.py": "x = 1\n" }, "Measure rain too");
  await git(repository, "checkout", "--quiet", "main");
  await makeRepository(join(directory, "acme/river-gauge"), files);
  const inFolders = ["rain", "wind"].flatMap((name) =>
    Object.entries(files).map(([path, text]) => [`servers/${name}/${path}`, text]),
  );
  await makeRepository(join(directory, "acme/several"), Object.fromEntries(inFolders));
  open = await serveGitRepositories(directory);
  closed = await serveGitRepositories(directory, { token });
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});
afterAll(async () => {
  await Promise.all([open?.close(), closed?.close()]);
  await rm(directory, { recursive: true, force: true });
});

const orgUrl = () => `${site.url}/${owner.organization.slug}`;
const field = () => page.getByLabel("Paste a repository's URL, a package or a registry entry");

test("SRC-2 a pasted URL shows what was found, by keyboard, and is deployed: its branch, Python, entrypoint and variables", async () => {
  await page.goto(`${orgUrl()}/servers`);
  await page.getByRole("link", { name: "New server" }).first().click();
  await page.getByRole("heading", { name: "New server" }).waitFor();
  await expect.poll(() => field().evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.insertText(`${open.url}/acme/weather-station`);
  const found = page.getByRole("region", { name: "Found" });
  await found.getByText("acme/weather-station").waitFor();
  await found.getByText(">=3.11").waitFor();
  await found.getByText("server.py").waitFor();
  await found.getByText("WEATHER_KEY").waitFor();
  expect(await page.getByLabel("Server name").inputValue()).toBe("weather-station");
  await expectAccessibleInBothThemes(page);
  await found.getByRole("combobox", { name: "Branch" }).click();
  await page.getByRole("option", { name: "next" }).click();
  await found.getByText("Measure rain too").waitFor();
  // Input stays when another branch is chosen, and after a reload.
  await page.getByLabel("Server name").fill("rain-station");
  await page.getByText("This name is available.").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("serverName")).toBe("rain-station");
  await page.reload();
  await found.getByText("Measure rain too").waitFor();
  expect(await page.getByLabel("Server name").inputValue()).toBe("rain-station");
  await page.getByRole("button", { name: "WEATHER_KEY" }).click();
  await page.getByRole("textbox", { name: "Value of WEATHER_KEY" }).fill("sunny-and-warm");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/rain-station\/build-logs\//);
  await page.getByText("Measure rain too").first().waitFor();
  const [stored] = await site.db
    .select({ source: gitSource, project })
    .from(gitSource)
    .innerJoin(project, eq(project.id, gitSource.projectId))
    .where(eq(project.name, "rain-station"));
  expect(stored?.source).toMatchObject({
    url: `${open.url}/acme/weather-station`,
    branch: "next",
    previews: false,
    credentialKind: null,
  });
  await page.goto(`${orgUrl()}/servers`);
  await page
    .getByRole("row", { name: /rain-station/ })
    .getByText("acme/weather-station")
    .waitFor();
});

test.runIf(isThorough)(
  "SRC-2 a private repository asks for a token there, which gets neither into the URL nor to another host",
  async () => {
    await page.goto(`${orgUrl()}/servers/new`);
    await field().fill(`${closed.url}/acme/weather-station`);
    await page.getByRole("heading", { name: "Is it a private repository?" }).waitFor();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("textbox", { name: "Token", exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Look again" }).click();
    await page.getByText(/refuses the token/).waitFor();
    await page.getByRole("textbox", { name: "Token", exact: true }).fill(token);
    await page.getByRole("button", { name: "Look again" }).click();
    await page.getByRole("region", { name: "Found" }).getByText("acme/weather-station").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("from")).toBe(`${closed.url}/acme/weather-station`);
    expect(page.url()).not.toContain(token);
    await field().fill(`${open.url}/acme/weather-station`);
    await page.getByRole("region", { name: "Found" }).waitFor();
    expect(open.requests.filter(({ credential }) => credential !== null)).toEqual([]);
    await field().fill(`${closed.url}/acme/weather-station`);
    await page.getByLabel("Server name").fill("closed-station");
    await page.getByText("This name is available.").waitFor();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL(/\/closed-station\/build-logs\//);
    await page.goto(`${orgUrl()}/closed-station/settings#source`);
    const card = page.locator("#source");
    await card.getByText("A token, stored encrypted.").waitFor();
    await expectAccessibleInBothThemes(page);
    expect(await page.content()).not.toContain(token);
  },
);

test.runIf(isThorough)(
  "SRC-2 texts that can't be a source get an error under the field; packages and registry entries lead on",
  async () => {
    await page.goto(`${orgUrl()}/servers/new`);
    await page.getByRole("button", { name: "Deploy the sample" }).waitFor();
    await field().fill("https://ada:secret@example.com/acme/echo");
    await page.getByText(/The URL has a user name or password in it/).waitFor();
    expect(page.url()).not.toContain("secret");
    await field().fill(`${open.url}/acme/nothing-there`);
    await page.getByText(/shows no repository at this URL/).waitFor();
    await field().fill("http://10.0.0.1/acme/echo");
    await page.getByText(/not a host on the public internet/).waitFor();
    expect(await page.getByRole("button", { name: "Look again" }).count()).toBe(0);
    await expectAccessibleInBothThemes(page);
    open.set({ answer: () => ({ status: 503 }) });
    await field().fill(`${open.url}/acme/river-gauge`);
    await page.getByText("Couldn't look at the repository").waitFor();
    open.set({ answer: () => null });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("region", { name: "Found" }).waitFor();
    await field().fill("registry:weather");
    await page.getByRole("link", { name: /Find weather in the registry/ }).waitFor();
    await field().fill("pypi:mcp-server-time==1.0");
    await page.getByRole("link", { name: /Deploy the package mcp-server-time 1.0/ }).click();
    await page.getByRole("heading", { name: "Deploy a package" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Package" }).inputValue()).toBe("mcp-server-time");
    // The first screens have the field, too.
    await page.goto(`${orgUrl()}/welcome/server-setup`);
    await page.getByLabel("Repository's URL, package or registry entry").fill(`${open.url}/acme/weather-station`);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/servers\/new\?from=/);
    await page.getByRole("region", { name: "Found" }).waitFor();
  },
);

test.runIf(isThorough)(
  "SRC-2 problems that people can cure are shown at the field: a mistyped host, a branch that is gone, one of several servers",
  async () => {
    const problem = async () => page.locator(`[id="${await field().getAttribute("aria-describedby")}"]`).textContent();
    await page.goto(`${orgUrl()}/servers/new`);
    await field().fill("https://no-such-host.invalid/acme/echo");
    await expect
      .poll(problem, { timeout: 15_000 })
      .toMatch(/^There is no host named no-such-host\.invalid\. Check the URL/);
    await page.goto(
      `${orgUrl()}/servers/new?from=${encodeURIComponent(`${open.url}/acme/weather-station`)}&branch=gone`,
    );
    await expect.poll(problem).toBe("The repository has no branch gone. It has main, next.");
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "Use the default branch" }).click();
    await page.getByRole("region", { name: "Found" }).getByText("First").waitFor();
    expect(new URL(page.url()).searchParams.has("branch")).toBe(false);
    // A build couldn't choose between the servers, so none is started.
    await field().fill(`${open.url}/acme/several`);
    await page.getByRole("region", { name: "Found" }).getByText("servers/rain/", { exact: true }).waitFor();
    await page.getByText("This name is available.").waitFor();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    const root = page.getByRole("textbox", { name: /^Root directory/ });
    await page.getByText("This repository has 2 servers.").waitFor();
    await expect.poll(() => root.evaluate((element) => element === document.activeElement)).toBe(true);
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "servers/wind", exact: true }).click();
    expect(await page.getByText("This repository has 2 servers.").count()).toBe(0);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL(/\/build-logs\//);
  },
);

test.runIf(isThorough)(
  "SRC-1 SRC-2 the source's settings: branch, previews, check, credential, webhook secret shown once, token for build states, another source",
  async () => {
    const { slug: orgSlug } = owner.organization;
    const deployed = { orgSlug, name: "river-station", gitUrl: `${open.url}/acme/weather-station`, entrypoint: "" };
    const { status } = await callServerFunction(owner.visitor, "source.deployGitUrl", "POST", deployed);
    expect(status).toBe(200);
    await page.goto(`${orgUrl()}/river-station/settings#source`);
    const card = page.locator("#source");
    const stored = async () =>
      (
        await site.db
          .select({ source: gitSource })
          .from(gitSource)
          .innerJoin(project, eq(project.id, gitSource.projectId))
          .where(eq(project.name, "river-station"))
      )[0]?.source;
    await card.getByText(/^Checked/).waitFor();
    await card.getByRole("button", { name: "Check now" }).click();
    await card.getByRole("switch", { name: "Previews of other branches" }).click();
    await expect.poll(async () => (await stored())?.previews).toBe(true);
    await card.getByRole("combobox", { name: "Branch" }).click();
    await page.getByRole("option", { name: "next" }).click();
    await expect.poll(async () => (await stored())?.branch).toBe("next");
    await card.getByRole("button", { name: "Make a secret" }).click();
    await card.getByText("Copy it now; you won't see it again.").waitFor();
    await card.getByText(`${site.url}/api/sources/`).waitFor();
    await expectAccessibleInBothThemes(page);
    await page.reload();
    await card.getByRole("button", { name: "Make a new secret" }).waitFor();
    expect(await card.getByText("Copy it now; you won't see it again.").count()).toBe(0);
    const states = card.getByRole("region", { name: "Build states" });
    await states.getByRole("button", { name: "Add token" }).click();
    await states.getByRole("button", { name: "Save token" }).click();
    await states.getByText("Token is required").waitFor();
    await states.getByLabel("Token for build states").fill("for-build-states");
    await expectAccessibleInBothThemes(page);
    await states.getByRole("button", { name: "Save token" }).click();
    await states.getByText("Posted to GitLab from the next build on.").waitFor();
    const source = await stored();
    expect(source).toMatchObject({ statusKind: "gitlab", credentialKind: null });
    await site.db.update(gitSource).set({ statusProblem: "The host refuses the token for build states." });
    await page.reload();
    await states.getByText("The host refuses the token for build states.").waitFor();
    await expectAccessibleInBothThemes(page);
    // A failed check is shown here and on the overview; the live version stays.
    open.set({ answer: () => ({ status: 404 }) });
    await card.getByRole("button", { name: "Check now" }).click();
    await card.getByText("Pushes aren't followed").waitFor();
    await expectAccessibleInBothThemes(page);
    await page.goto(`${orgUrl()}/river-station`);
    await page.getByText("Pushes aren't followed").waitFor();
    open.set({ answer: () => null });
    await page.getByRole("link", { name: "Open source settings" }).click();
    await card.getByRole("button", { name: "Change source" }).click();
    await card.getByLabel("Repository's URL").fill(`${open.url}/acme/river-gauge`);
    await card.getByText("Name, address, variables, settings").waitFor();
    await expectAccessibleInBothThemes(page);
    await card.getByRole("button", { name: "Change source and build" }).click();
    await page.waitForURL(/\/river-station\/build-logs\//);
    expect(await stored()).toMatchObject({
      url: `${open.url}/acme/river-gauge`,
      webhookSecretCiphertext: null,
      statusKind: null,
    });
  },
);
