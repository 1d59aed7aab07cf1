import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createAdmin } from "@towpath/github-stand-in";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { isThorough } from "../thorough.ts";
import { expectAccessible } from "./accessible.ts";
import { connectGitHub, createOrganization, newVisitor, signUp } from "./browser.ts";

// A server that doesn't start without its variables: it goes live only if they reach its process.

const run = promisify(execFile);
const [url, serversUrl] = [inject("url"), inject("serversUrl")];
const account = `vars-${process.pid}`;
const server = `with-variables-${process.pid}`;
const privateKey = "-----BEGIN KEY-----\nabc=\n-----END KEY-----";
let browser: Browser;
let page: Page;
let complaints: string[];
let slug: string;
let directory: string;

const source = plainServer(
  { variables: 'greeting + "|" + private_key' },
  'import os\n\ngreeting = os.environ["GREETING"]\nprivate_key = os.environ["PRIVATE_KEY"]\n',
);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-variables-"));
  browser = await launchChromium();
  ({ page, complaints } = await newVisitor(browser));
  await signUp(page, url);
  slug = await createOrganization(page, "Variables");
  await connectGitHub(page, account);
  const { pushUrl } = await createAdmin(inject("gitHubUrl")).ensureRepository({ owner: account, name: "needy" });
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await writeFile(join(directory, "server.py"), source);
  const git = (...args: string[]) =>
    run("git", ["-C", directory, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "Needs variables");
  await git("push", "--quiet", pushUrl, "HEAD:main");
});

afterAll(async () => {
  await browser?.close();
  await rm(directory, { recursive: true, force: true });
});

const name = (position: number) => page.getByLabel(`Name of variable ${position}`, { exact: true });
const value = (of: string) => page.getByLabel(`Value of ${of}`, { exact: true });
const deploy = () => page.getByRole("button", { name: "Deploy", exact: true }).click();

async function openForm(variables: string[]) {
  await page.goto(`${url}/${slug}/welcome/choose-repo`);
  const link = page.getByRole("listitem").filter({ hasText: "needy" }).getByRole("link");
  const target = new URL((await link.getAttribute("href")) ?? "", url);
  target.searchParams.set("envVariables", JSON.stringify(variables));
  await page.goto(target.href);
  await page.getByLabel("Server name").fill(server);
  await page.getByText("This name is available").waitFor();
}

async function paste(position: number, text: string) {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await name(position).focus();
  await page.keyboard.press("Control+V");
}

const focused = () => page.locator(":focus").getAttribute("aria-label");

async function toolAnswer(serverName: string) {
  const client = new Client({ name: "variables", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${serversUrl}/${serverName}/mcp`)));
  const { content } = await client.callTool({ name: "variables", arguments: {} });
  await client.close();
  return content;
}

test.runIf(isThorough)("ONB-5 VAL-4 names come from the address, and errors are shown beside each field", async () => {
  await openForm(["GREETING", "LEAKED=hunter2"]);
  await expect.poll(() => name(1).inputValue()).toBe("GREETING");
  await expect.poll(() => name(2).inputValue()).toBe("LEAKED");
  await expect.poll(() => page.url()).not.toContain("hunter2");
  await page.getByRole("button", { name: "Remove LEAKED" }).click();
  await deploy();
  await page.getByText("Secret value is required").waitFor();
  for (const [faulty, text] of [
    ["api-key", "Key name must start with a letter or underscore and use only A-Z, 0-9, _"],
    ["TOWPATH_CLOUD_URL", "Key name cannot start with TOWPATH_CLOUD_ (reserved)"],
    ["A".repeat(256), "Key name is too long (max 255 characters)"],
    ["", "Key name is required"],
  ] as const) {
    await name(1).fill(faulty);
    await value(faulty || "variable 1").fill("x");
    await page.getByText(text).waitFor();
  }
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove variable 1" }).click();
  await expect.poll(() => name(1).inputValue()).toBe("");
});

test("ONB-12 a pasted .env block fills the rows, hidden until revealed, out of the address", async () => {
  await openForm([]);
  await paste(1, `# for the greeting\nexport GREETING="good morning"\nPRIVATE_KEY="${privateKey}"\nUNUSED=1 # no\n`);
  await expect.poll(() => name(3).inputValue()).toBe("UNUSED");
  await expect.poll(() => name(1).inputValue()).toBe("GREETING");
  await expect.poll(() => value("GREETING").getAttribute("type")).toBe("password");
  await page.getByRole("button", { name: "Show value of GREETING" }).click();
  await expect
    .poll(async () => [await value("GREETING").getAttribute("type"), await value("GREETING").inputValue()])
    .toEqual(["text", "good morning"]);
  await page.getByRole("button", { name: "Show value of PRIVATE_KEY" }).click();
  await expect.poll(() => value("PRIVATE_KEY").inputValue()).toBe(privateKey);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove UNUSED" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("Name of variable 2");
  await page.getByRole("button", { name: "Add variable" }).click();
  await expect.poll(focused).toBe("Name of variable 3");
});

test("ONB-5 RUN-4 a server that needs its variables goes live with them, and they are never shown again", async () => {
  await page.getByRole("radio", { name: /Open to anyone/ }).click();
  await deploy();
  await page.waitForURL(/\/build-logs\//);
  await expect.poll(() => page.url()).not.toContain("GREETING");
  await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 90_000 });
  expect(await toolAnswer(server)).toMatchObject([{ type: "text", text: `good morning|${privateKey}` }]);
  await page.reload();
  await page.getByRole("link", { name: "Open inspector" }).first().waitFor();
  await expect.poll(() => page.content()).not.toContain("good morning");
  expect(complaints).toEqual([]);
});

test.runIf(isThorough)(
  "PRJ-11 KEY-1 a build that lacks variables leads to the settings, and from there to a live server",
  async () => {
    const late = `late-variables-${process.pid}`;
    await page.goto(`${url}/${slug}/welcome/choose-repo`);
    await page.getByRole("listitem").filter({ hasText: "needy" }).getByRole("link").click();
    await page.getByLabel("Server name").fill(late);
    await page.getByText("This name is available").waitFor();
    await page.getByRole("radio", { name: /Open to anyone/ }).click();
    await deploy();
    await page.waitForURL(/\/build-logs\//);
    await page.getByText("Settings → Environment variables").first().waitFor({ timeout: 90_000 });
    await page.getByRole("link", { name: "Open settings" }).click();
    await page.waitForURL(/\/settings#variables$/);
    await page.getByText("No variables yet").waitFor();
    await page.getByText("The latest build of main failed: GREETING and PRIVATE_KEY are missing").waitFor();
    await expect.poll(() => name(1).inputValue()).toBe("GREETING");
    await expect.poll(() => name(2).inputValue()).toBe("PRIVATE_KEY");
    await expectAccessible(page);
    await paste(1, `GREETING=wrong\nPRIVATE_KEY="${privateKey}"\nUNUSED=1\n`);
    await page.getByRole("button", { name: "Save variables" }).click();
    const stored = page.getByRole("table", { name: "Environment variables", exact: true });
    await expect.poll(() => stored.locator("tbody").getByRole("row").count()).toBe(3);
    await page.getByRole("button", { name: "Edit GREETING" }).click();
    await value("GREETING").fill("good evening");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete UNUSED" }).click();
    await page.getByRole("button", { name: "Delete variable" }).click();
    await expect.poll(() => stored.locator("code").allTextContents()).toEqual(["GREETING", "PRIVATE_KEY"]);
    await page.getByText("Saved. It takes effect with the next build.").waitFor();
    await page.getByText("keeps its old variables until the next deployment").first().waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))");
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => page.content()).not.toContain("good evening");
    await page.getByRole("button", { name: "Rebuild" }).click();
    await page.waitForURL(/\/build-logs\//);
    await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 90_000 });
    expect(await toolAnswer(late)).toMatchObject([{ type: "text", text: `good evening|${privateKey}` }]);
  },
);

test.runIf(isThorough)(
  "PRJ-11 VAL-2 VAL-3 a wrong entrypoint is shown at its field, and the next build uses the saved one",
  async () => {
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    const entrypoint = page.getByLabel("Entrypoint");
    await page.getByLabel(/Requirements file/).fill("../x.txt");
    await page.getByText("Requirements file cannot reference parent directories").waitFor();
    await page.getByLabel(/Requirements file/).fill("");
    await entrypoint.fill("/server.py");
    await page.getByText("Entrypoint must be a relative path from the repo root").waitFor();
    await entrypoint.fill("absent.py");
    await page.getByRole("form", { name: "Build" }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Rebuild" }).click();
    await page.getByText("The entrypoint absent.py doesn't exist").first().waitFor({ timeout: 90_000 });
    await page.getByRole("link", { name: "Open settings" }).click();
    await page.waitForURL(/\/settings#build$/);
    await expect.poll(() => entrypoint.inputValue()).toBe("absent.py");
    await entrypoint.fill("server.py:mcp");
    await page.getByRole("form", { name: "Build" }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Rebuild" }).click();
    await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 90_000 });
    expect(complaints).toEqual([]);
  },
);

test.runIf(isThorough)(
  "GW-7 PRJ-11 KEY-4 payloads are in the log's drawer while the project keeps them, without values of variables, and not after",
  async () => {
    const keep = page.getByRole("switch", { name: "Keep payloads" });
    const switchTo = async (kept: boolean) => {
      await page.goto(`${url}/${slug}/${server}/settings`);
      await keep.click();
      await expect.poll(() => keep.isChecked()).toBe(kept);
      await page.reload();
      await expect.poll(() => keep.isChecked()).toBe(kept);
      await expectAccessible(page);
    };
    const logs = `${url}/${slug}/${server}/logs?methodType=tool:variables`;
    /** Calls the tool until the newest call's drawer shows the expected state: the gateway follows a moment later. */
    const newestCallShows = (expected: boolean) =>
      expect
        .poll(
          async () => {
            await toolAnswer(server);
            await page.goto(logs);
            await page.getByRole("row").filter({ hasText: "variables" }).first().click();
            await page.getByText("Request id").waitFor();
            // Payloads come with the lines, after the row's own facts.
            await page.getByText("Loading the lines…").waitFor({ state: "detached" });
            return (await page.getByText("Response payload").count()) > 0;
          },
          { timeout: 30_000 },
        )
        .toBe(expected);
    await newestCallShows(false);
    await switchTo(true);
    await newestCallShows(true);
    await expect.poll(() => page.getByText("[GREETING]|[PRIVATE_KEY]").count()).toBeGreaterThan(0);
    await expect.poll(() => page.content()).not.toContain("good morning");
    await switchTo(false);
    await newestCallShows(false);
    expect(complaints).toEqual([]);
  },
);
