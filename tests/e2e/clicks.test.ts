import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { elsewhere } from "../instance/elsewhere.ts";
import { operatorPost, operatorToken } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { newVisitor, type Visitor } from "./browser.ts";
import { countClicks } from "./clicks.ts";

// How many clicks a person needs, each counted in the browser.

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const timeout = 5 * 60_000;
const good = plainServer({ ping: '"pong"' });
let directory: string;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let clicks: { readonly count: () => number };
let slug: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-clicks-"));
  browser = await launchChromium();
  visitor = await newVisitor(browser);
  ({ page } = visitor);
  clicks = await countClicks(visitor.context);
  await page.goto(`${instance.url}/login`);
  await page.getByLabel("Email").fill(inject("ownerEmail"));
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/(servers|welcome)/);
  slug = new URL(page.url()).pathname.split("/")[1] ?? "";
});
afterAll(async () => {
  await browser?.close();
  await rm(directory, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

/** Pushes a version; resolves to the status of the terminal. */
async function push(name: string, files: Files): Promise<number> {
  const source = join(directory, name);
  await rm(source, { recursive: true, force: true });
  await mkdir(source, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(source, path), text);
  const args = ["deploy", source, "--name", name, "--public", "--data-dir", instance.dataDirectory];
  return (await towpath(...args)).status;
}

async function get(path: string): Promise<Record<string, never>> {
  const headers = { authorization: `Bearer ${await operatorToken(instance)}` };
  return (await (await fetch(`${instance.url}/api/v1/${path}`, { headers })).json()) as Record<string, never>;
}

const pyproject = (python: string) => `[project]
name = "weather"
version = "1.0.0"
requires-python = "${python}"
dependencies = ["uvicorn"]
`;

const commit = async (button: string) => {
  await page.getByRole("link", { name: button }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Commit and deploy" }).click();
};

type Build = { readonly id: string; readonly status: string };
type Kind = {
  readonly files: Files;
  /** Set after the first build, and built again. */
  readonly entrypoint?: string;
  readonly title: string | RegExp;
  readonly fix: () => Promise<void>;
};
const listed = { "server.py": good, "requirements.txt": plainRequirements };

/** The kinds of failures whose remedy is known. */
const kinds: Readonly<Record<string, Kind>> = {
  "a package that does not exist": {
    files: { ...listed, "requirements.txt": `${plainRequirements}towpath-no-such-package-q7\n` },
    title: "There is no package named towpath-no-such-package-q7",
    fix: () => commit("Remove towpath-no-such-package-q7 from requirements.txt"),
  },
  "a missing module": {
    files: { ...listed, "server.py": `import idna\n${good}` },
    title: "The module idna is not installed",
    fix: () => commit("Require idna in requirements.txt"),
  },
  "another Python": {
    files: { "server.py": good, "pyproject.toml": pyproject("<3.9") },
    title: /^Python .* is not available$/,
    fix: () => commit("Pin Python"),
  },
  "a damaged lock": {
    files: { "server.py": good, "pyproject.toml": pyproject(">=3.10"), "uv.lock": "version = \n" },
    title: /uv\.lock/,
    fix: () => commit("Delete uv.lock"),
  },
  "an entrypoint that does not exist": {
    files: listed,
    entrypoint: "main.py",
    title: /main\.py/,
    fix: () => page.getByRole("button", { name: /^Set entrypoint to server\.py/ }).click(),
  },
  "a missing variable": {
    files: { ...listed, "server.py": `import os\nKEY = os.environ["WEATHER_KEY"]\n${good}` },
    title: "The environment variable WEATHER_KEY is not set",
    fix: async () => {
      await page.getByLabel("WEATHER_KEY", { exact: true }).click();
      await page.keyboard.type("a value");
      await page.getByRole("button", { name: "Save and rebuild" }).click();
    },
  },
  "a line of code": {
    files: { ...listed, "server.py": `retries = 3 +\n${good}` },
    title: /is not valid Python/,
    fix: async () => {
      await page.getByRole("link", { name: "Open server.py line 1" }).click();
      await page.locator(".cm-marked").waitFor();
      await page.keyboard.press("End");
      await page.keyboard.type(" 1");
      await page.getByRole("button", { name: "Commit 1 file" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Commit and deploy" }).click();
    },
  },
};

test.each(Object.entries(kinds).filter((_, at) => isThorough || at < 1))(
  "CAP-5 BLD-2 from a build that failed by %s to live within three clicks",
  async (kind, { files, entrypoint, title, fix }) => {
    const name = `clicks-${Object.keys(kinds).indexOf(kind)}-${process.pid}`;
    expect(await push(name, files)).toBe(entrypoint === undefined ? 1 : 0);
    if (entrypoint !== undefined) {
      const headers = { authorization: `Bearer ${await operatorToken(instance)}`, "content-type": "application/json" };
      const init = { method: "PATCH", headers, body: JSON.stringify({ entrypoint }) };
      expect((await fetch(`${instance.url}/api/v1/projects/${name}`, init)).status).toBe(200);
      await operatorPost(instance, `projects/${name}/builds`, { branch: "main", reuse: "never" });
    }
    const newest = async () => {
      const { data } = (await get(`projects/${name}/builds`)) as unknown as { readonly data: readonly Build[] };
      return data[0] ?? expect.fail("it has no build");
    };
    await expect.poll(async () => (await newest()).status, { timeout }).toBe("failed");
    await page.goto(`${instance.url}/${slug}/${name}/build-logs/${(await newest()).id}`);
    await page.getByRole("heading", { name: title }).waitFor();
    const before = clicks.count();
    await fix();
    await expect.poll(async () => (await newest()).status, { timeout }).toBe("succeeded");
    expect((await get(`projects/${name}/status`)).live).not.toBeNull();
    const needed = clicks.count() - before;
    process.stderr.write(`from ${kind} to live: ${needed} clicks\n`);
    expect(needed).toBeGreaterThan(0);
    expect(needed).toBeLessThanOrEqual(3);
    expect(visitor.complaints).toEqual([]);
  },
  2 * timeout,
);

test.runIf(isThorough)(
  "CAP-6 an alert leads to the line that failed, and to why a build did, within two clicks",
  async () => {
    const name = `alerts-${process.pid}`;
    const alerts: { readonly type: string; readonly url: string }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += String(piece);
      const { type, data } = JSON.parse(body);
      alerts.push({ type, url: data.url });
      response.end("ok");
    });
    await new Promise<void>((listening) => receiver.listen(0, elsewhere, listening));
    try {
      const failing = `from fastmcp import FastMCP

mcp = FastMCP("Prices")
prices: dict[str, int] = {}


@mcp.tool
def price(city: str) -> int:
    return prices[city]
`;
      const requirements = { "requirements.txt": "fastmcp>=2,<3\n" };
      expect(await push(name, { ...requirements, "server.py": failing })).toBe(0);
      const { id: projectId } = (await get(`projects/${name}`)) as unknown as { readonly id: string };
      await operatorPost(instance, `organizations/${slug}/alert-channels`, {
        name: "On call",
        format: "standard",
        url: `http://${elsewhere}:${(receiver.address() as AddressInfo).port}/hook`,
        events: ["error.new", "deployment.failed"],
        projectIds: [projectId],
      });
      const client = new Client({ name: "shopper", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${inject("serversUrl")}/${name}/mcp`)));
      await client.callTool({ name: "price", arguments: { city: "oslo" } }).catch(() => {});
      await client.close().catch(() => {});
      expect(await push(name, { ...requirements, "server.py": `import peewee\n${failing}` })).toBe(1);
      const urlOf = (type: string) => alerts.find((each) => each.type === type)?.url;
      await expect.poll(() => [urlOf("error.new"), urlOf("deployment.failed")], { timeout }).not.toContain(undefined);

      for (const [type, cause] of [
        ["error.new", () => page.getByText("return prices[city]")],
        ["deployment.failed", () => page.getByRole("heading", { name: "The module peewee is not installed" })],
      ] as const) {
        const before = clicks.count();
        // As a message shows it.
        await page.goto(`data:text/html,<a href="${urlOf(type)}">Open</a>`);
        await page.getByRole("link", { name: "Open" }).click();
        await cause().waitFor();
        const needed = clicks.count() - before;
        process.stderr.write(`from the alert ${type} to its cause: ${needed} clicks\n`);
        expect(needed).toBeGreaterThan(0);
        expect(needed).toBeLessThanOrEqual(2);
      }
      expect(visitor.complaints).toEqual([]);
    } finally {
      receiver.close();
      receiver.closeAllConnections();
    }
  },
  2 * timeout,
);
