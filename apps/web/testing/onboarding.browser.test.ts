import { seedOrganization, seedProject } from "@towpath/core/testing";
import { build, githubInstallation, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, gotoWithoutScripts, newPage, openBrowser } from "./browser.ts";
import { openSiteWithGitHub } from "./site.ts";

// These tests run in order: each continues where the one before it stopped.

const { site, gitHub } = openSiteWithGitHub();
const browser = openBrowser();
let page: Page;
const consoleErrors: string[] = [];
const orgSlug = "acme-inc";

beforeAll(async () => {
  page = await newPage(await browser.newContext());
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) loaded += 1;
  });
  page.on("pageerror", (error) => consoleErrors.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    const expected = /the server responded with a status of (404|422)/;
    if (message.type() === "error" && !expected.test(message.text()))
      consoleErrors.push(`${page.url()}: ${message.text()}`);
  });
});

/** How many documents the page has loaded. */
const documents = () => loaded;
let loaded = 0;

const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
/** The page's steps. */
const steps = () => page.getByRole("list", { name: "Steps" }).getByRole("listitem").allTextContents();
const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();

test("AUTH-1 AUTH-2 sign-up goes through the embedded provider and back", async () => {
  await page.goto(`${site.url}/signup`);
  await expectAccessible(page);
  await press("Create account");
  await see("First name is required");
  await page.getByLabel("First name").fill("Ada");
  await page.getByLabel("Last name").fill("Lovelace");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password").fill("correct horse battery");
  await press("Create account");
  await page.waitForURL("**/welcome/create-organization");
});

test("ONB-1 SRC-4 an organization is proposed from the person's name, with the slug that is free; it needs a name", async () => {
  const name = page.getByLabel("Organization name");
  expect(await name.inputValue()).toBe("Ada Lovelace");
  await see(/Its pages are at \/ada-lovelace\./);
  expect(await steps()).toEqual(["Organization", "Server"]);
  await expectAccessible(page);
  await name.fill("");
  await press("Create organization");
  await see("Organization name is required");
});

test("ONB-1 a form submitted before the page's script has run is not lost, and the next page loads no new document", async () => {
  const runScripts = await gotoWithoutScripts(page, `${site.url}/welcome/create-organization`);
  await page.getByLabel("Organization name").fill("Acme, Inc.");
  await press("Create organization");
  const before = documents();
  runScripts();
  await page.waitForURL(`**/${orgSlug}/servers/new`);
  expect(documents()).toBe(before);
  await see("Deploy the sample");
  expect(await steps()).toEqual(["Organization, done", "Server"]);
});

test("ONB-2 Connect GitHub is a link that works before the page's script, installs the App at GitHub and records the installation", async () => {
  // Where home leads whoever has not connected GitHub.
  await page.goto(site.url);
  await page.waitForURL(`**/${orgSlug}/welcome/connect-github?success=false`);
  // It is offered on the way to the first server, and no step of it.
  await see(/^Optional\./);
  expect(await steps()).toEqual(["Organization, done", "Server"]);
  await expectAccessible(page);
  const runScripts = await gotoWithoutScripts(page, page.url());
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.waitForURL(`${gitHub.url}/**`, { waitUntil: "commit" });
  runScripts();
  await page.locator('input[name="login"]').fill("ada-codes");
  await press(/continue/i);
  await press(/^Authorize/);
  await press(/^Install/);
  await page.waitForURL("**/new/github-install-success");
  await expectAccessible(page);
  const [row] = await site.db.select().from(githubInstallation);
  expect(row).toMatchObject({ accountLogin: "ada-codes", accountType: "User" });
  await page.getByRole("link", { name: "Continue" }).click();
  await page.waitForURL(`**/${orgSlug}/welcome/server-setup`);
});

test("ONB-3 ONB-11 server setup shows a random name, a button for another, the counter and the URL of the server", async () => {
  const name = page.getByLabel("Server name");
  await expect.poll(() => name.inputValue()).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
  const first = await name.inputValue();
  await see(`${first.length}/32 characters`);
  await expect
    .poll(() => page.getByTestId("server-url-preview").textContent())
    .toBe(`http://localhost:8080/${first}/mcp`);
  await press("Suggest another name");
  await expect.poll(() => name.inputValue()).not.toBe(first);
  await see("This name is available.");
  await expectAccessible(page);
});

test("VAL-1 an invalid name shows the specification's message while typing", async () => {
  const name = page.getByLabel("Server name");
  for (const [value, text] of [
    ["", "Project name is required"],
    ["short", "Project name must be at least 6 characters long"],
    ["a".repeat(33), "Project name must be 32 characters or less"],
    [
      "-starts-wrong",
      "Project name must start and end with a letter or number, contain only letters, numbers, and hyphens",
    ],
  ] as const) {
    await name.fill(value);
    await see(text);
  }
  await name.fill("brave-teal-otter");
  await see("This name is available.");
});

test.runIf(isThorough)("ONB-3 the URL carries the name and the error of a quickstart", async () => {
  const setup = `${site.url}/${orgSlug}/welcome/server-setup`;
  await page.goto(`${setup}?serverName=calm-blue-crane&isCreating=false&error=GitHub+is+unreachable.`);
  await expect.poll(() => page.getByLabel("Server name").inputValue()).toBe("calm-blue-crane");
  await see("The server was not created");
  await see("GitHub is unreachable.");
  await page.getByLabel("Server name").fill("calm-blue-crane-2");
  // Typing removes the error, and a reload keeps the name.
  await expect.poll(() => new URL(page.url()).search).toBe("?serverName=calm-blue-crane-2&isCreating=false");
  await page.reload();
  await expect.poll(() => page.getByLabel("Server name").inputValue()).toBe("calm-blue-crane-2");
  await expect.poll(() => page.getByText("GitHub is unreachable.").count()).toBe(0);
  await page.goto(`${setup}?serverName=brave-teal-otter&isCreating=perhaps`);
  await expect.poll(() => page.getByLabel("Server name").inputValue()).toBe("brave-teal-otter");
  await see("This name is available.");
});

test("ONB-3 ONB-4 the quickstart authorizes at GitHub, copies the sample, creates the project and starts its first build", async () => {
  const asked = page.waitForRequest((request) => request.url().startsWith(`${gitHub.url}/login/oauth/authorize`));
  const resumed = page.waitForRequest(
    (request) => request.isNavigationRequest() && /isCreating=true/.test(request.url()),
  );
  await press("Deploy the echo server");
  // The link was loaded with the page: no request between the click and GitHub.
  const authorize = new URL((await asked).url()).searchParams;
  expect(authorize.get("redirect_uri")).toBe(`${site.url}/api/github/callback`);
  expect(authorize.get("state")).toMatch(/^\S{20,}$/);
  expect(new URL((await resumed).url()).searchParams.get("serverName")).toBe("brave-teal-otter");
  await page.waitForURL(new RegExp(`/${orgSlug}/brave-teal-otter/build-logs/[0-9a-f-]{36}$`));
  const [stored] = await site.db.select().from(project).where(eq(project.name, "brave-teal-otter"));
  expect(stored).toMatchObject({ repositoryFullName: "ada-codes/brave-teal-otter", entrypoint: "echo.py" });
  const builds = await site.db.select().from(build);
  expect(builds).toMatchObject([
    { trigger: "quickstart", status: "queued", commitSha: expect.stringMatching(/^[0-9a-f]{40}$/) },
  ]);
});

test("ONB-4 the stored GitHub token is deleted after the quickstart", async () => {
  const { rowCount } = await site.pool.query("SELECT 1 FROM verification WHERE identifier LIKE 'secret:%'");
  expect(rowCount).toBe(0);
});

test.runIf(isThorough)("ORG-2 the servers screen shows the server, and finds none of another name", async () => {
  await page.goto(`${site.url}/${orgSlug}/servers`);
  await see("brave-teal-otter");
  await see("Queued");
  await expectAccessible(page);
  await page.getByRole("searchbox").fill("no such server");
  await see("No matching servers");
  await expect.poll(() => new URL(page.url()).searchParams.get("text")).toBe("no such server");
});

test("ONB-5 ONB-6 a chosen repository is deployed after its files are offered and checked", async () => {
  await page.goto(`${site.url}/${orgSlug}/welcome/choose-repo`);
  await page.getByRole("link", { name: "Choose brave-teal-otter" }).waitFor();
  // There is a first server, so the steps are gone.
  expect(await steps()).toEqual([]);
  await expectAccessible(page);
  const proposed = (await page.getByTestId("proposed-name").textContent()) ?? "";
  expect(proposed).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
  await page.getByRole("link", { name: "Choose brave-teal-otter" }).click();
  const entrypoint = page.getByRole("textbox", { name: /^Entrypoint/ });
  await entrypoint.waitFor();
  // Left empty, the build finds the entrypoint; candidates are offered.
  await page.getByRole("button", { name: "echo.py" }).waitFor();
  expect(await entrypoint.inputValue()).toBe("");
  await page.getByRole("textbox", { name: /^Arguments/ }).fill("--greeting 'open");
  await see("A quote is not closed");
  await page.getByRole("textbox", { name: /^Arguments/ }).fill("--greeting 'good day'");
  await expect.poll(() => page.getByLabel("Server name").inputValue()).toBe(proposed);
  await expectAccessible(page);
  await see("This name is available.");
  // Files are looked up while the form is filled in, and input survives a reload.
  await entrypoint.fill("nope.py:app");
  await see("There is no nope.py in ada-codes/brave-teal-otter at main (");
  await expect.poll(() => new URL(page.url()).searchParams.get("entrypoint")).toBe("nope.py:app");
  await page.reload();
  await expect.poll(() => entrypoint.inputValue()).toBe("nope.py:app");
  await expect.poll(() => page.getByLabel("Server name").inputValue()).toBe(proposed);
  for (const [value, text] of [
    ["../echo.py", "Entrypoint cannot reference parent directories"],
    ["echo.py:", "Identifier cannot be empty after colon"],
    ["echo.py:1x", "Identifier must be a valid Python identifier"],
    ["nope.py", "There is no nope.py in ada-codes/brave-teal-otter at main ("],
  ] as const) {
    await entrypoint.fill(value);
    await press("Deploy");
    await see(text);
  }
  await page.getByRole("button", { name: "echo.py" }).click();
  await page.getByRole("radio", { name: /Open to anyone/ }).click();
  await page.getByLabel("Server name").fill("taken-meanwhile");
  await see("This name is available.");
  await seedProject(site.db, await seedOrganization(site.db), { name: "taken-meanwhile" });
  await press("Deploy");
  await see("This project name is already taken");
  await page.getByLabel("Server name").fill("second-server-here");
  await see("This name is available.");
  await page.getByLabel("Server name").fill("taken-meanwhile");
  await see("This project name is already taken");
  await page.getByLabel("Server name").fill("second-server-here");
  await see("This name is available.");
  await press("Deploy");
  await page.waitForURL(/second-server-here\/build-logs\//);
  const [stored] = await site.db.select().from(project).where(eq(project.name, "second-server-here"));
  expect(stored).toMatchObject({ authMode: "towpath-public", entrypoint: "echo.py", requirements: null });
  expect(stored?.arguments).toEqual(["--greeting", "good day"]);
});

test.runIf(isThorough)("ONB-5 the form starts with every field in the URL", async () => {
  const [installation] = await site.db.select().from(githubInstallation);
  const deploy = `${site.url}/${orgSlug}/welcome/server-deploy`;
  const address = new URLSearchParams({
    serverName: "third-server-here",
    defaultBranch: "trunk",
    teamId: "elsewhere",
    entrypoint: "other.py:app",
    requirements: "requirements.txt",
    rootDirectory: "servers/one",
    envVariables: JSON.stringify(["API_KEY", "REGION=eu"]),
    shouldUseAuth: "false",
    repoName: "ada-codes/brave-teal-otter",
    owner: "ada-codes",
    repo: "brave-teal-otter",
    isPrivate: "false",
    installationId: String(installation?.installationId),
  });
  await page.goto(`${deploy}?${address}`);
  const filled = (name: string) => page.getByRole("textbox", { name, exact: true }).inputValue();
  await see("ada-codes/brave-teal-otter");
  await see("You are not a member of this link's organization");
  await see(/This link names trunk, but the default branch is main/);
  await expect.poll(() => filled("Server name")).toBe("third-server-here");
  await expect.poll(() => page.getByRole("textbox", { name: /^Entrypoint/ }).inputValue()).toBe("other.py:app");
  await expect
    .poll(() => page.getByRole("textbox", { name: /^Requirements file/ }).inputValue())
    .toBe("requirements.txt");
  await expect.poll(() => page.getByRole("textbox", { name: /^Root directory/ }).inputValue()).toBe("servers/one");
  await see("There is no servers/one/other.py in ada-codes/brave-teal-otter at main (");
  await expect.poll(() => filled("Name of variable 1")).toBe("API_KEY");
  // A value in the URL is ignored: values must not be in URLs.
  await expect.poll(() => filled("Name of variable 2")).toBe("REGION");
  await expect.poll(() => page.getByRole("radio", { name: /Open to anyone/ }).isChecked()).toBe(true);
  await expectAccessible(page);
});

test.runIf(isThorough)(
  "ONB-5 invalid fields count as missing, and without a repository the user must choose one first",
  async () => {
    const [installation] = await site.db.select().from(githubInstallation);
    const deploy = `${site.url}/${orgSlug}/welcome/server-deploy`;
    const faulty = `entrypoint=${"x".repeat(201)}&shouldUseAuth=maybe&envVariables=API_KEY`;
    await page.goto(
      `${deploy}?installationId=${installation?.installationId}&repoName=ada-codes/brave-teal-otter&${faulty}`,
    );
    await page.getByRole("button", { name: "echo.py" }).waitFor();
    expect(await page.getByRole("textbox", { name: /^Entrypoint/ }).inputValue()).toBe("");
    await expect.poll(() => page.getByRole("radio", { name: /Members only/ }).isChecked()).toBe(true);
    await page.goto(deploy);
    await page.waitForURL(`**/${orgSlug}/welcome/choose-repo`);
  },
);

test.runIf(isThorough)(
  "ORG-8 the account page shows every field, and UI-2 the stored theme is set before the first paint",
  async () => {
    await page.goto(`${site.url}/account`);
    for (const text of ["First name", "Last name", "Email", "Id", "Role", "Permissions", "ada@example.com"])
      await see(text);
    await expectAccessible(page);
    await press(/account of Ada Lovelace/);
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.reload({ waitUntil: "commit" });
    await page.waitForSelector("body", { state: "attached" });
    await expect
      .poll(() => page.evaluate(() => [document.documentElement.dataset.theme, localStorage.getItem("theme")]))
      .toEqual(["dark", "dark"]);
    await page.waitForLoadState();
    await expectAccessible(page);
  },
);

test("AUTH-3 signing out from the menu leads to the public site", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await press(/account of Ada Lovelace/);
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(`${site.url}/`);
  await page.getByRole("link", { name: "Sign in" }).first().waitFor();
  await page.goto(`${site.url}/${orgSlug}/servers`);
  await expect.poll(() => new URL(page.url()).pathname).toBe("/provider/sign-in");
});

test("no page violated the content security policy, failed to hydrate or logged an error", () => {
  expect(consoleErrors).toEqual([]);
});
