import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { expectAccessible } from "./accessible.ts";
import { connectForge, createOrganization, newVisitor, openBrowser, signUp } from "./browser.ts";

// A server that does not start without its variables: it is live only if they reach its process.

const run = promisify(execFile);
const [url, serversUrl, forgeUrl] = [inject("url"), inject("serversUrl"), inject("forgeUrl")];
const account = `vars-${process.pid}`;
const server = `with-variables-${process.pid}`;
const privateKey = "-----BEGIN KEY-----\nabc=\n-----END KEY-----";
let browser: Browser;
let page: Page;
let complaints: string[];
let slug: string;
let folder: string;

const source = `import os

from fastmcp import FastMCP

mcp = FastMCP("Variables")
greeting = os.environ["GREETING"]
private_key = os.environ["PRIVATE_KEY"]


@mcp.tool
def variables() -> str:
    return greeting + "|" + private_key
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "towpath-variables-"));
  browser = await openBrowser();
  ({ page, complaints } = await newVisitor(browser));
  await signUp(page, url);
  slug = await createOrganization(page, "Variables");
  await connectForge(page, account);
  await page.goto(`${forgeUrl}/new`);
  await page.getByLabel("Repository name").fill("needy");
  await page.getByRole("button", { name: "Create repository" }).click();
  const address = /git remote add towpath (\S+)/.exec(await page.locator("main").innerText())?.[1] ?? "";
  await writeFile(join(folder, "requirements.txt"), "fastmcp==4.1.2\n");
  await writeFile(join(folder, "server.py"), source);
  const git = (...args: string[]) =>
    run("git", ["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "Needs variables");
  await git("push", "--quiet", address, "HEAD:main");
});

afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

const name = (position: number) => page.getByLabel(`Name of variable ${position}`, { exact: true });
const value = (of: string) => page.getByLabel(`Value of ${of}`, { exact: true });
const deploy = () => page.getByRole("button", { name: "Deploy", exact: true }).click();

async function paste(position: number, text: string) {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await name(position).focus();
  await page.keyboard.press("Control+V");
}

const focused = () => page.locator(":focus").getAttribute("aria-label");

test("ONB-5 VAL-4 names come from the address, and what is wrong is told beside each field", async () => {
  await page.goto(`${url}/${slug}/welcome/choose-repo`);
  const link = page.getByRole("listitem").filter({ hasText: "needy" }).getByRole("link");
  const target = new URL((await link.getAttribute("href")) ?? "", url);
  target.searchParams.set("envVariables", JSON.stringify(["GREETING", "LEAKED=hunter2"]));
  await page.goto(target.href);
  expect(await name(1).inputValue()).toBe("GREETING");
  expect(await name(2).inputValue()).toBe("LEAKED");
  expect(page.url()).not.toContain("hunter2");
  await page.getByRole("button", { name: "Remove LEAKED" }).click();
  await page.getByLabel("Server name").fill(server);
  await page.getByText("This name is free").waitFor();
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
  expect(await name(1).inputValue()).toBe("");
});

test("ONB-12 a pasted .env block fills the rows, hidden until asked for, out of the address", async () => {
  await paste(1, `# for the greeting\nexport GREETING="good morning"\nPRIVATE_KEY="${privateKey}"\nUNUSED=1 # no\n`);
  await expect.poll(() => name(3).inputValue()).toBe("UNUSED");
  expect(await name(1).inputValue()).toBe("GREETING");
  expect(await value("GREETING").getAttribute("type")).toBe("password");
  await page.getByRole("button", { name: "Show value of GREETING" }).click();
  expect([await value("GREETING").getAttribute("type"), await value("GREETING").inputValue()]).toEqual([
    "text",
    "good morning",
  ]);
  await page.getByRole("button", { name: "Show value of PRIVATE_KEY" }).click();
  expect(await value("PRIVATE_KEY").inputValue()).toBe(privateKey);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove UNUSED" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("Name of variable 2");
  await page.getByRole("button", { name: "Add variable" }).click();
  await expect.poll(focused).toBe("Name of variable 3");
});

test("ONB-5 RUN-4 a server that needs its variables goes live with them, and nobody is shown them again", async () => {
  await page.getByRole("radio", { name: /Open to anyone/ }).click();
  await deploy();
  await page.waitForURL(/\/build-logs\//);
  expect(page.url()).not.toContain("GREETING");
  await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 90_000 });
  const client = new Client({ name: "variables", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${serversUrl}/${server}/mcp`)));
  const { content } = await client.callTool({ name: "variables", arguments: {} });
  await client.close();
  expect(content).toMatchObject([{ type: "text", text: `good morning|${privateKey}` }]);
  await page.reload();
  await page.getByRole("link", { name: "Open inspector" }).first().waitFor();
  expect(await page.content()).not.toContain("good morning");
  expect(complaints).toEqual([]);
});
