import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { branch } from "@towpath/db/schema";
import { readManifest } from "@towpath/mcp/client";
import { type Talker, talker } from "@towpath/mcp/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// A real server, reached through a proxy that changes what the preview's one says.

let server: Talker;
let proxy: Server;
const site = openSite(async () => {
  server = await talker("modern");
  proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    for (const name of ["host", "connection", "content-length"]) headers.delete(name);
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const answer = await fetch(server.url, { method: request.method ?? "GET", headers, body });
    const text = await answer.text();
    const isPreview = request.url?.includes("-feature") ?? false;
    const type = answer.headers.get("content-type") ?? "text/plain";
    const shown = isPreview ? text.replace("**done** after 2", "**finished** after 2") : text;
    response.writeHead(answer.status, { "content-type": type, "towpath-request-id": newId() }).end(shown);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  return { TOWPATH_SERVER_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/{name}` };
});
const browser = openBrowser();
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.close();
});

let member: Member;
let page: Page;
let own: Awaited<ReturnType<typeof seedProject>>;
/** Its tools are destructive. */
let risky: typeof own;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, member);
  const { manifest } = await readManifest({ url: server.url }, { timeoutMs: 20_000 });
  own = await seedBoth(manifest);
  const tools = manifest.tools.map((tool) => ({ ...tool, annotations: { destructiveHint: true } }));
  risky = await seedBoth({ ...manifest, tools });
});

/** A server whose production and preview are live. */
async function seedBoth(manifest: Awaited<ReturnType<typeof readManifest>>["manifest"]) {
  const project = await seedProject(site.db, member.organization, { authMode: "towpath-cloud" });
  await seedLiveVersion(site.db, project, { label: project.name, manifest });
  const branchId = newId();
  await site.db.insert(branch).values({ id: branchId, projectId: project.id, name: "feature" });
  const preview = { label: `${project.name}-feature`, environment: "preview", manifest } as const;
  await seedLiveVersion(site.db, { id: project.id, branchId }, preview);
  return project;
}

const comparison = () => page.getByRole("region", { name: "Comparison" });

async function compareCall(steps: string, of = own): Promise<void> {
  await page.goto(`${site.url}/${member.organization.slug}/${of.name}/inspector?tool=work`);
  const button = page.getByRole("button", { name: "Call tool" });
  await expect.poll(() => button.isEnabled()).toBe(true);
  await page.getByLabel(/^steps/).fill(steps);
  await button.click();
  const asked = page.getByRole("dialog", { name: "Call work?" }).getByRole("button", { name: "Call tool" });
  if (of === risky) await asked.click();
  await comparison().getByRole("button", { name: "Compare with…" }).click();
  await page.getByRole("menuitem", { name: "feature, called with the same arguments" }).click();
}

test("CAP-8 a call is made on another branch with the same arguments: both times, and where the answers differ", async () => {
  await compareCall("2");
  const table = comparison().getByRole("table", { name: "Differences between main and feature" });
  const cells = table.getByRole("row").nth(1).getByRole("cell");
  await expect
    .poll(() => cells.allTextContents())
    // With the names of the columns, which phones show.
    .toEqual(["content[0].text", 'main"**done** after 2"', 'feature"**finished** after 2"']);
  await comparison()
    .getByText(/^main answered in .+, feature answered in .+\.$/)
    .waitFor();
  const called = server.requests.filter(({ method }) => method === "tools/call");
  expect(called.length).toBe(2);
  await expectAccessible(page);
});

test.runIf(isThorough)("CAP-8 versions that answer alike are shown as the same", async () => {
  await compareCall("3");
  await comparison().getByText("Both gave the same answer.").waitFor();
});

test.runIf(isThorough)(
  "CAP-8 a destructive tool is called a second time only after a question that names the version",
  async () => {
    const calls = () => server.requests.filter(({ method }) => method === "tools/call").length;
    const before = calls();
    await compareCall("2", risky);
    const dialog = page.getByRole("dialog", { name: "Call work on feature?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(calls()).toBe(before + 1);
    await comparison().getByRole("button", { name: "Compare with…" }).click();
    await page.getByRole("menuitem", { name: "feature, called with the same arguments" }).click();
    await dialog.getByRole("button", { name: "Call tool" }).click();
    await comparison()
      .getByText(/^main answered in/)
      .waitFor();
    expect(calls()).toBe(before + 2);
  },
);
