import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { png } from "@towpath/core/testing";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { elsewhere, filesOf } from "../instance/elsewhere.ts";
import { operatorToken } from "../instance/operator.ts";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { newVisitor } from "./browser.ts";

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const name = `icons-${process.pid}`;
let directory: string;
let host: Server;
/** Paths that were asked for at the host of the icon. */
const asked: string[] = [];
const hosted = png(64, 64, "elsewhere");
let browser: Browser;
let page: Page;
let complaints: readonly string[];
let servers: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-icons-"));
  await writeFile(join(directory, "requirements.txt"), "fastmcp>=2.13,<3\n");
  const { key, certificate } = filesOf(inject("elsewhereDirectory"));
  host = createServer({ key: await readFile(key), cert: await readFile(certificate) }, (request, response) => {
    asked.push(request.url ?? "");
    const isIcon = request.url === "/icon.png";
    response.writeHead(isIcon ? 200 : 404, { "content-type": "image/png" }).end(isIcon ? hosted : "");
  });
  await new Promise<void>((listening) => host.listen(0, elsewhere, listening));
  browser = await launchChromium();
  ({ page, complaints } = await newVisitor(browser));
  await page.goto(`${instance.url}/login`);
  await page.getByLabel("Email").fill(inject("ownerEmail"));
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/(servers|welcome)/);
  servers = `${instance.url}/${new URL(page.url()).pathname.split("/")[1]}/servers`;
});
afterAll(async () => {
  await browser?.close();
  host?.close();
  host?.closeAllConnections();
  await rm(directory, { recursive: true, force: true });
});

/** Pushes a version whose handshake names this icon, and waits until it is live. Returns all that the terminal printed. */
async function push(src: string, ...options: readonly string[]): Promise<string> {
  const source = `from fastmcp import FastMCP
from mcp.types import Icon

mcp = FastMCP("Icons", icons=[Icon(src=${JSON.stringify(src)}, mimeType="image/png", sizes=["64x64"])])


@mcp.tool
def ping() -> str:
    return "pong"
`;
  await writeFile(join(directory, "server.py"), source);
  const args = ["deploy", directory, "--name", name, "--public", "--data-dir", instance.dataDirectory, ...options];
  const { status, stdout, stderr } = await towpath(...args);
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

/** The icon there, once it is drawn: its address on this site, and how wide it is; null for a letter. */
async function iconIn(place: Locator): Promise<readonly [src: string | null, width: number] | null> {
  const image = place.locator("img").first();
  if ((await image.count()) === 0) return null;
  const width = await image.evaluate(async (element) => {
    const drawn = element as unknown as { decode(): Promise<void>; readonly naturalWidth: number };
    await drawn.decode();
    return drawn.naturalWidth;
  });
  return [await image.getAttribute("src"), width];
}

/** The icon in the list of servers, in the palette, on the server's page, and on the public page. */
async function icons() {
  await page.goto(servers);
  const row = page.getByRole("row", { name: new RegExp(name) });
  await row.waitFor();
  const inList = await iconIn(row);
  await page.keyboard.press("Control+k");
  const option = page.getByRole("option", { name });
  await page.getByRole("dialog").getByRole("combobox").fill(name);
  await option.first().waitFor();
  const inPalette = await iconIn(option.first());
  await page.keyboard.press("Escape");
  await row.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  const onPage = await iconIn(page.getByRole("main"));
  await page.goto(`${instance.url}/app/${name}`);
  const inPublic = await iconIn(page.getByRole("main"));
  return { inList, inPalette, onPage, inPublic };
}

test.runIf(isThorough)(
  "CAP-7 a FastMCP server's own icon, in its handshake or at an address, is shown by this site in lists, palette and on the public page",
  async () => {
    await push(`data:image/png;base64,${png(96, 96, "own").toString("base64")}`);
    const token = await operatorToken(instance);
    const published = await fetch(`${instance.url}/api/v1/projects/${name}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ isPublic: true }),
    });
    expect(published.status).toBe(200);
    const first = await icons();
    const own = [expect.stringMatching(/^\/api\/icons\/[\w-]{43}$/), 96];
    expect(first).toEqual({ inList: own, inPalette: own, onPage: own, inPublic: own });

    await push(`https://${elsewhere}:${(host.address() as AddressInfo).port}/icon.png`);
    const second = await icons();
    const fetched = [expect.stringMatching(/^\/api\/icons\/[\w-]{43}$/), 64];
    expect(second).toEqual({ inList: fetched, inPalette: fetched, onPage: fetched, inPublic: fetched });
    expect(second.inList?.[0]).not.toBe(first.inList?.[0]);
    // By the build, and by no browser.
    expect(asked).toEqual(["/icon.png"]);

    // One that can't be read doesn't hold the build up.
    const output = await push(`https://${elsewhere}:1/icon.png`);
    expect(output).toContain("The server's icon can't be shown");
    const none = await icons();
    expect(none).toMatchObject({ inList: null, inPalette: null });
    expect(asked).toHaveLength(1);
    expect(complaints).toEqual([]);
  },
);
