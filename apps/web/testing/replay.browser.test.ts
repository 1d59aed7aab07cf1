import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type QuestionModel, runReplay } from "@towpath/core/delivery/replay";
import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject, testContext } from "@towpath/core/testing";
import { branch, build, callReplay, member as memberTable, project, sampledCall } from "@towpath/db/schema";
import { readManifest } from "@towpath/mcp/client";
import { type Talker, talker } from "@towpath/mcp/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser, overflowOf } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// A real server, reached through a proxy that changes what the preview's one says.

let server: Talker;
let proxy: Server;
const changed = (text: string) => text.replace("**done** after 2", "**finished** after 2");
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
    const type = answer.headers.get("content-type") ?? "text/plain";
    const shown = request.url?.includes("-feature") ? changed(text) : text;
    response.writeHead(answer.status, { "content-type": type, "towpath-request-id": newId() }).end(shown);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  const models = [{ name: "Claude", provider: "openai-compatible", url: "http://127.0.0.1:9/v1", model: "c" }];
  return {
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
    TOWPATH_SERVER_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/{name}`,
  };
});
/** Of the site. */
const secret = "a secret for tests that is long enough";
const browser = openBrowser();
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.close();
});

let owner: Member;
let page: Page;
let own: Awaited<ReturnType<typeof seedProject>>;
let preview: { readonly buildId: string };
const section = () => page.locator("#replayed-calls");
const path = () => `${site.url}/${owner.organization.slug}/${own.name}`;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
  const { manifest: found } = await readManifest({ url: server.url }, { timeoutMs: 20_000 });
  const tools = found.tools.map((tool) => ({ ...tool, annotations: { readOnlyHint: tool.tool_name === "work" } }));
  const manifest = { ...found, tools };
  own = await seedProject(site.db, owner.organization, { authMode: "towpath-cloud" });
  await seedLiveVersion(site.db, own, { label: own.name, manifest });
  const branchId = newId();
  await site.db.insert(branch).values({ id: branchId, projectId: own.id, name: "feature" });
  preview = await seedLiveVersion(
    site.db,
    { id: own.id, branchId },
    { label: `${own.name}-feature`, environment: "preview", manifest, sequence: 2 },
  );
});

/** Chooses the first tool, until the preview's description leads to none. */
const model: QuestionModel = {
  name: "Claude",
  tokensPerDay: 1e6,
  choose: async ({ tools: [tool] }) => ({
    tool: tool?.description === "Rests" ? null : (tool?.name ?? null),
    arguments: { steps: 2 },
    inputTokens: 900,
    outputTokens: 100,
  }),
};

/** Does what a worker does with the replay that waits. */
async function replayNow() {
  const secrets = createSecretBox({ current: secret, previous: [] });
  const [row] = await site.db.select().from(callReplay).where(eq(callReplay.projectId, own.id));
  const text = (url: string) => (url.includes("-feature") ? changed("**done** after 2") : "**done** after 2");
  const openServer = ({ url }: { readonly url: string }) => ({
    ask: async () => ({
      kind: "result" as const,
      isError: false,
      ms: 12,
      result: { content: [{ type: "text", text: text(url) }] },
    }),
    close: async () => {},
  });
  const ctx = testContext(site.db, { kind: "job", job: "calls.replay" }, { secrets });
  const { signal } = new AbortController();
  expect(await runReplay({ ctx, input: { replayId: row?.id ?? "", openServer, model, signal } })).toBe("done");
}

async function sample(): Promise<void> {
  const { replays } = createSecretBox({ current: secret, previous: [] });
  const id = newId();
  const sealed = replays.seal({ projectId: own.id, id }, JSON.stringify({ steps: 2 }));
  const times = { sampledAt: new Date(), expiresAt: new Date(Date.now() + 86_400_000) };
  const call = { id, projectId: own.id, tool: "work", shape: "s", fingerprint: id, sealed, ...times };
  await site.db.insert(sampledCall).values(call);
}

test.runIf(isThorough)(
  "CAP-4 the settings say what is stored, switch replays on, mark tools, and delete all of it again",
  async () => {
    await page.goto(`${path()}/settings#replay`);
    const card = page.locator("#replay");
    await card.getByText("Nothing is replayed on pull requests from forks.").waitFor();
    const stored = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.replay;
    expect(await stored()).toBeNull();
    await card.getByLabel("Sample and replay calls of production").click();
    const wait = { timeout: 15_000 };
    await expect.poll(stored, wait).toEqual({ tools: [], isRequired: false, calls: 50, seconds: 45, keepDays: 14 });
    await card.getByText("Fail checks where answers are different").click();
    await expect.poll(stored, wait).toMatchObject({ isRequired: true });
    await expectAccessible(page);
    await sample();
    await card.getByLabel("Sample and replay calls of production").click();
    await expect.poll(stored, wait).toBeNull();
    expect(await site.db.$count(sampledCall, eq(sampledCall.projectId, own.id))).toBe(0);
  },
);

test.runIf(isThorough)(
  "PRJ-11 a setting that saves at once takes each click while another one is saved; what fails goes back and says why",
  async () => {
    await page.goto(`${path()}/settings#replay`);
    const card = page.locator("#replay");
    const stored = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.replay;
    const failing = card.getByLabel("Fail checks where answers are different");
    const tools = card.getByRole("group").getByRole("checkbox");
    const held: (() => void)[] = [];
    const saves = /_serverFn\/settings\.updateProject/;
    await page.route(saves, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      if (held.length === 2) await route.abort();
      else await route.continue();
    });
    await card.getByLabel("Sample and replay calls of production").click();
    await failing.click();
    await tools.nth(0).click();
    await tools.nth(1).click();
    // All are shown, and the first waits for the server.
    const shown = async () => [
      await failing.isChecked(),
      await tools.nth(0).isChecked(),
      await tools.nth(1).isChecked(),
    ];
    await expect.poll(shown).toEqual([true, true, true]);
    const wait = { timeout: 15_000 };
    for (const at of [0, 1, 2, 3]) {
      await expect.poll(() => held.length, wait).toBe(at + 1);
      held[at]?.();
    }
    // The second failed, and took no other with it.
    await expect.poll(async () => ((await stored()) as { tools: string[] } | null)?.tools.length, wait).toBe(2);
    expect(await stored()).toMatchObject({ isRequired: false });
    await card.getByText("Towpath can't be reached. Try again.").waitFor();
    await expect.poll(shown).toEqual([false, true, true]);
    await page.unroute(saves);
    // Another tab has changed another part of it meanwhile.
    const others = { ...((await stored()) as object), keepDays: 30 };
    await site.db.update(project).set({ replay: others }).where(eq(project.id, own.id));
    await failing.click();
    await expect.poll(stored, wait).toMatchObject({ isRequired: true, keepDays: 30 });
    expect(await card.getByText("Towpath can't be reached").count()).toBe(0);
    await card.getByLabel("Sample and replay calls of production").click();
    await expect.poll(stored, wait).toBeNull();
  },
);

test.runIf(isThorough)(
  "CAP-4 questions to a model are added, edited and deleted by keyboard; an empty list teaches, and what is no question is refused",
  async () => {
    await page.goto(`${path()}/settings#questions`);
    const card = page.locator("#questions");
    await card.getByText("Nothing is asked on pull requests from forks.").waitFor();
    const wait = { timeout: 15_000 };
    const stored = async () =>
      (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.checkQuestions as {
        readonly texts: string[];
        readonly isOn: boolean;
        readonly tokens: number;
      };
    const saved = () => expect.poll(() => card.locator("[aria-readonly=true], [aria-busy=true]").count(), wait).toBe(0);
    await card.getByLabel("Ask a model saved questions").click();
    await card.getByText("No questions yet").waitFor();
    await saved();
    const field = card.getByRole("textbox", { name: "New question" });
    const add = card.getByRole("button", { name: "Add question" });
    await add.press("Enter");
    await card.getByText("Enter a question").waitFor();
    await field.fill("Work for two steps");
    await add.press("Enter");
    await expect.poll(async () => (await stored())?.texts, wait).toEqual(["Work for two steps"]);
    await expect.poll(() => field.inputValue(), wait).toBe("");
    await saved();
    await field.fill("Work for two steps");
    await add.press("Enter");
    await card.getByText("This question is saved already").waitFor();
    await field.fill("What is left?");
    await add.press("Enter");
    await expect.poll(async () => (await stored())?.texts.length, wait).toBe(2);
    await saved();
    const list = card.getByRole("list", { name: "Saved questions" });
    await list.getByRole("button", { name: "Edit: What is left?" }).press("Enter");
    await list.getByRole("textbox", { name: "Question" }).fill("Which work is left?");
    await list.getByRole("button", { name: "Save question" }).press("Enter");
    await expect.poll(async () => (await stored())?.texts, wait).toEqual(["Work for two steps", "Which work is left?"]);
    await expectAccessible(page);
    await saved();
    await list.getByRole("button", { name: "Delete: Which work is left?" }).press("Enter");
    await expect.poll(stored, wait).toMatchObject({ isOn: true, texts: ["Work for two steps"], tokens: 100_000 });
    await saved();
    await page.reload();
    await list.getByText("Work for two steps").waitFor();
    expect(await card.getByText("No model is configured").count()).toBe(0);
    await page.setViewportSize({ width: 320, height: 800 });
    await expect.poll(() => overflowOf(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  },
);

test("CAP-4 a preview's page shows what became different and what a model chooses; one call and all are replayed by keyboard; viewers only read", async () => {
  await site.db.update(project).set({ checkQuestions: null }).where(eq(project.id, own.id));
  await page.goto(`${path()}/build-logs/${preview.buildId}#replayed-calls`);
  await section().getByRole("link", { name: "Replay calls on pull requests" }).waitFor();
  const replay = { tools: [], isRequired: false, calls: 50, seconds: 45, keepDays: 14 };
  const checkQuestions = { isOn: true, texts: ["Work for two steps"] };
  await site.db.update(project).set({ replay, checkQuestions }).where(eq(project.id, own.id));
  const [{ manifest } = {}] = await site.db.select().from(build).where(eq(build.id, preview.buildId));
  const [first, ...tools] = (manifest as { tools: object[] }).tools;
  const rests = { ...(manifest as object), tools: [{ ...first, description: "Rests" }, ...tools] };
  await site.db.update(build).set({ manifest: rests }).where(eq(build.id, preview.buildId));
  await sample();
  await page.reload();
  await section().getByText("No calls were replayed on this version").waitFor();
  await section().getByRole("button", { name: "Replay all again" }).press("Enter");
  await section().getByText("wait to be replayed on this preview").waitFor();
  await replayNow();
  await section().getByText("1 call of 1 tool: 1 different. 1 question: 1 with another tool").waitFor();
  const asked = section().getByRole("region", { name: "Questions to a model" });
  await asked.getByText("Claude was called 4 times, for 4,000 tokens.").waitFor();
  expect((await asked.getByRole("listitem").allTextContents()).join()).toMatch(
    /Work for two steps.*Another tool.*chooses no tool instead of.*Production.*\{"steps":2\}.*Preview.*No tool/,
  );
  const tool = section().getByRole("region", { name: "work" });
  const cells = tool.getByRole("table", { name: "Differences of work" }).getByRole("row").nth(1).getByRole("cell");
  expect((await cells.allTextContents()).join(" ")).toMatch(/another value.*done.*finished/);
  await tool.getByText(/^Called with/).press("Enter");
  await tool.getByText("**finished** after 2").first().waitFor();
  await expectAccessible(page);
  const calls = () => server.requests.filter(({ method }) => method === "tools/call").length;
  const before = calls();
  await tool.getByRole("button", { name: "Replay this call" }).press("Enter");
  const both = tool.getByRole("table", { name: "Differences between Production and feature" });
  await both.getByText('"**finished** after 2"').waitFor({ timeout: 30_000 });
  expect(calls()).toBe(before + 2);
  await page.setViewportSize({ width: 320, height: 800 });
  const wide = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("main *")]
        .filter((each) => each.getBoundingClientRect().right > 321)
        .map((each) => `${each.tagName} ${each.className} ${each.textContent?.slice(0, 40)}`),
    );
  await expect.poll(async () => ((await overflowOf(page)) > 0 ? await wide() : [])).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectAccessible(page);

  await site.db.update(memberTable).set({ role: "viewer" }).where(eq(memberTable.userId, owner.userId));
  await page.reload();
  await section().getByText("1 call of 1 tool: 1 different").waitFor();
  expect(await section().getByRole("button").count()).toBe(0);

  // The same answers, but later.
  const [row] = await site.db.select().from(callReplay).where(eq(callReplay.projectId, own.id));
  if (!row?.sealed) throw new Error("no report");
  const { replays } = createSecretBox({ current: secret, previous: [] });
  const document = JSON.parse(replays.open(row, row.sealed) ?? "");
  const slower = { kind: "slower", path: "", was: "10 ms", is: "90 ms", calls: 5, counts: true, text: "Slower." };
  Object.assign(document.report.tools[0], { different: 0, differences: [slower], examples: [] });
  const sealed = replays.seal(row, JSON.stringify(document));
  await site.db.update(callReplay).set({ sealed, different: 0 }).where(eq(callReplay.id, row.id));
  await page.reload();
  await tool.getByText("Slower", { exact: true }).waitFor();
});
