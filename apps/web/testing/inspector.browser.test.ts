import { type ModelServer, openAiModel } from "@towpath/chat/testing";
import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { branch, chatUsage } from "@towpath/db/schema";
import { readManifest } from "@towpath/mcp/client";
import type { Manifest } from "@towpath/mcp/manifest";
import { type Talker, talker } from "@towpath/mcp/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, gotoWithoutScripts, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// The server and the model are real ones on this machine; the gateway in between is left to tests/e2e.

let server: Talker;
let model: ModelServer;
const site = openSite(async () => {
  server = await talker("modern");
  model = await openAiModel(() => ({ text: ["teal"] }));
  const models = [{ provider: "openai-compatible", url: model.url, model: "tester-1", name: "Tester" }];
  return {
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
    TOWPATH_SERVER_URL: `${server.url.replace(/\/mcp$/, "")}/{name}`,
  };
});
const browser = openBrowser();
afterAll(() => Promise.all([server.close(), model.close()]));

let member: Member;
let page: Page;
let own: Awaited<ReturnType<typeof seedProject>>;
let manifest: Manifest;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, member);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.url });
  own = await seedProject(site.db, member.organization, { authMode: "towpath-cloud" });
  manifest = (await readManifest({ url: server.url }, { timeoutMs: 20_000 })).manifest;
  await seedLiveVersion(site.db, own, { label: own.name, manifest });
});

beforeEach(() => page.setViewportSize({ width: 1440, height: 900 }));

const address = (search = "") => `${site.url}/${member.organization.slug}/${own.name}/inspector${search}`;
const result = () => page.getByRole("region", { name: "Result" });
const callButton = () => page.getByRole("button", { name: "Call tool" });
async function openTool(name: string): Promise<void> {
  await page.goto(address(`?tool=${name}`));
  await page.getByRole("heading", { name, exact: true }).waitFor();
  // The page's script runs.
  await expect.poll(() => callButton().isEnabled()).toBe(true);
}
async function call(name: string): Promise<void> {
  await openTool(name);
  await callButton().click();
}
const received = (method: string) => server.requests.filter((each) => each.method === method);

test("PRJ-4 UI-4 a call by keyboard alone: list, form, Ctrl-Enter; the first invalid field has the focus", async () => {
  await openTool("book");
  const list = page.getByRole("listbox", { name: "tools" });
  await list.getByRole("option", { name: /^book/ }).focus();
  await page.keyboard.press("Home");
  await page.waitForURL(/tool=work/);
  expect(await list.locator("[tabindex='0']").count()).toBe(1);
  const steps = page.getByLabel(/^steps/);
  await steps.waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText("Required", { exact: true }).waitFor();
  await expect.poll(() => steps.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.type("3");
  const before = received("tools/call").length;
  await page.keyboard.press("Control+Enter");
  await result().getByText("done", { exact: true }).waitFor();
  expect(received("tools/call").length).toBe(before + 1);
  expect(received("tools/call").at(-1)?.headers.authorization).toMatch(/^Bearer ey/);
  expect(await result().getByRole("region", { name: "Log messages" }).getByRole("listitem").count()).toBe(3);
  await list.getByRole("option", { name: /^work/ }).focus();
  await page.keyboard.type("pai");
  await expect.poll(() => list.getByRole("option").allTextContents()).toEqual(["paint"]);
});

test.runIf(isThorough)(
  "PRJ-4 calls, their results and the history are there after a reload, over one connection a page; it can be cleared",
  async () => {
    await openTool("work");
    const discovered = received("server/discover").length;
    await page.getByLabel(/^steps/).fill("2");
    const kept = Number((await page.getByRole("button", { name: /^History/ }).textContent())?.replace(/\D/g, ""));
    for (const count of [1, 2]) {
      await callButton().click();
      await page.getByRole("button", { name: `History ${kept + count}` }).waitFor();
      await result().getByText("done", { exact: true }).waitFor();
    }
    await page.getByText("Connected, MCP 2026-07-28").waitFor();
    expect(received("server/discover").length).toBe(discovered + 1);
    await page.getByRole("button", { name: /^Protocol/ }).click();
    const messages = page.getByRole("list", { name: "Messages" });
    await messages
      .getByRole("button", { name: /tools\/call/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Copy message" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain('"method": "tools/call"');
    await page.reload();
    await result().getByText("done", { exact: true }).waitFor();
    expect(await page.getByLabel(/^steps/).inputValue()).toBe("2");
    await page.getByRole("button", { name: /^History/ }).click();
    await page.getByRole("list", { name: "Calls" }).getByRole("listitem").first().waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Only this browser keeps them").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "History 0" }).waitFor();
  },
);

test("PRJ-4 the server's questions during a call are answered: a form, a model by hand and by the configured one", async () => {
  await call("book");
  const form = result().getByRole("group", { name: "The server asks" });
  await form.getByLabel("seats").fill("4");
  await expectAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await form.getByRole("button", { name: "Send answer" }).click();
  await result().getByText("booked 4").waitFor();
  await call("paint");
  const question = result().getByRole("group", { name: "The server asks a model" });
  await question.getByText("Name a colour.").waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await question.getByRole("button", { name: "Ask Tester" }).click();
  await expect.poll(() => question.getByLabel("Answer").inputValue()).toBe("teal");
  await question.getByRole("button", { name: "Send answer" }).click();
  await result().getByText("painted teal as Tester says").waitFor();
  expect(await site.db.select().from(chatUsage).where(eq(chatUsage.projectId, own.id))).toMatchObject([
    { model: "Tester", inputTokens: 100 },
  ]);
  await callButton().click();
  await question.getByLabel("Answer").fill("red");
  await question.getByRole("button", { name: "Send answer" }).click();
  await result().getByText("painted red as answered by hand says").waitFor();
});

test("PRJ-4 a call is canceled; a failed one shows the tool's own message and leads to its log", async () => {
  await call("wait");
  await page.getByRole("button", { name: "Cancel" }).click();
  await result().getByText("You canceled the call.").waitFor();
  await call("fails");
  await result().getByText("no such account").waitFor();
  const link = result().getByRole("link", { name: "See what the server logged" });
  await expect.poll(() => link.getAttribute("href")).toMatch(/\/logs\?request=[0-9a-f-]{36}$/);
});

test.runIf(isThorough)(
  "PRJ-4 results are shown safely: Markdown, image, audio, links, embedded and structured; secrets are neither kept nor shared",
  async () => {
    await openTool("show");
    await page.getByLabel(/^password/).fill("hunter2-hunter2");
    expect(await page.getByLabel(/^password/).getAttribute("type")).toBe("password");
    await callButton().click();
    await result().getByRole("heading", { name: "A title" }).waitFor();
    expect(await result().getByRole("link", { name: "a link" }).getAttribute("rel")).toBe(
      "noopener noreferrer nofollow",
    );
    await result().getByText("<b onclick=x>raw</b>").waitFor();
    await result().locator("audio").waitFor();
    await result().getByText("embedded").waitFor();
    await result().getByRole("tab", { name: "Structured" }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "Link with these arguments" }).click();
    await page.getByText("Left out: password. Add your own.").waitFor();
    const link = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(link).toMatch(/tool=show&tab=tools#args=e30$/);
    await page.getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "Python" }).click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toContain('call_tool("show", {})');
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("hunter2");
    await result().getByRole("button", { name: "Read" }).click();
    await page.waitForURL(/tab=resources/);
    await page.getByText("No resource called").waitFor();
  },
);

test.runIf(isThorough)(
  "PRJ-4 a link fills in its arguments and calls nothing; an unknown tool, branch or prompt isn't replaced by another",
  async () => {
    const calls = received("tools/call").length;
    await page.goto(address(`?tool=work#args=${btoa('{"steps":7}').replace(/=+$/, "")}`));
    await page.getByText("Filled in from a link").waitFor();
    expect(await page.getByLabel(/^steps/).inputValue()).toBe("7");
    await page.getByRole("option", { name: /^show/ }).click();
    await page.getByText("Filled in from a link").waitFor({ state: "detached" });
    expect(received("tools/call").length).toBe(calls);
    await page.goto(address("?tool=gone"));
    await page.getByText("No tool called").waitFor();
    await expect.poll(() => callButton().count()).toBe(0);
    await expectAccessible(page);
    await page.goto(address(`?branchId=${newId()}`));
    await page.getByText("Branch not found").waitFor();
  },
);

test.runIf(isThorough)(
  "PRJ-4 a preview's calls go to the preview over a connection of its own, and production's to production",
  async () => {
    const branchId = newId();
    const label = `${own.name}-try`.slice(0, 60);
    await site.db.insert(branch).values({ id: branchId, projectId: own.id, name: "try" });
    const tools = manifest.tools.filter(({ tool_name: name }) => name === "fails" || name === "work");
    const version = { label, environment: "preview", manifest: { ...manifest, tools } } as const;
    await seedLiveVersion(site.db, { id: own.id, branchId }, version);
    server.requests.length = 0;
    const paths = (method: string) => received(method).map(({ path }) => path);

    await page.goto(address(`?tool=work&branchId=${branchId}`));
    await page.getByRole("combobox", { name: "Branch" }).getByText("try").waitFor();
    const list = page.getByRole("listbox", { name: "tools" });
    await expect.poll(() => list.getByRole("option").allTextContents()).toHaveLength(2);
    await page.getByLabel(/^steps/).fill("1");
    await callButton().click();
    await result().getByText("done", { exact: true }).waitFor();
    await page.getByRole("option", { name: /^fails/ }).click();
    await page.getByRole("heading", { name: "fails", exact: true }).waitFor();
    await callButton().click();
    await result().getByText("no such account").waitFor();
    const preview = `/${label}/mcp`;
    expect([paths("server/discover"), paths("tools/call")]).toEqual([[preview], [preview, preview]]);

    await page.getByRole("combobox", { name: "Branch" }).click();
    await page.getByRole("option", { name: /production/ }).click();
    await page.getByRole("option", { name: /^book/ }).waitFor();
    await page.getByRole("option", { name: /^fails/ }).click();
    await page.getByRole("heading", { name: "fails", exact: true }).waitFor();
    await callButton().click();
    const production = `/${own.name}/mcp`;
    await expect.poll(() => paths("tools/call")).toEqual([preview, preview, production]);
    expect(paths("server/discover")).toEqual([preview, production]);
  },
);

test.runIf(isThorough)(
  "PRJ-4 fields take no text before the arguments of an earlier visit are in them, so none is lost",
  async () => {
    const runScripts = await gotoWithoutScripts(page, address("?tool=work"));
    const steps = page.getByLabel(/^steps/);
    await steps.waitFor();
    await expect.poll(() => steps.isDisabled()).toBe(true);
    runScripts();
    // Waits until the field accepts input.
    await steps.fill("1");
    await callButton().click();
    await result().getByText("done", { exact: true }).waitFor();
  },
);

test.runIf(isThorough)(
  "PRJ-4 of several invalid fields the first on the page gets the focus; a destructive tool asks before it is called",
  async () => {
    await openTool("wipe");
    const hasFocus = (element: Element) => element === document.activeElement;
    const before = received("tools/call").length;
    await page.getByLabel(/^folder/).fill("x");
    await callButton().click();
    await page.getByText("Required", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel(/^folder/).evaluate(hasFocus)).toBe(true);
    await page.getByLabel(/^folder/).fill("old");
    await callButton().click();
    // Not copies_kept, whose name has the same prefix.
    const copies = page.getByLabel(/^copies(?!_)/);
    await expect.poll(() => copies.evaluate(hasFocus)).toBe(true);
    await copies.fill("1");
    await page.keyboard.press("Control+Enter");
    const question = page.getByRole("dialog", { name: "Call wipe?" });
    await question.waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    expect(received("tools/call").length).toBe(before);
    await callButton().click();
    await question.getByRole("button", { name: "Call tool" }).click();
    await result().getByText("wiped old").waitFor();
    expect(received("tools/call").length).toBe(before + 1);
  },
);

test.runIf(isThorough)(
  "PRJ-4 prompts and templates: values are suggested, messages rendered, and tried in the chat",
  async () => {
    await page.goto(address("?tab=prompts&prompt=visit"));
    await page
      .getByRole("searchbox", { name: "Filter prompts" })
      .and(page.getByPlaceholder("Filter prompts"))
      .waitFor();
    await page.locator("label", { hasText: "city" }).getByText("required").waitFor();
    await page.getByLabel(/^city/).fill("Oslo");
    await page.getByRole("button", { name: "Get prompt" }).click();
    await result().getByText("Plan a day in").waitFor();
    await page.getByLabel(/^city/).fill("O");
    await expect
      .poll(() => page.locator("datalist option").evaluateAll((all) => all.map((each) => each.getAttribute("value"))))
      .toEqual(["Oslo", "Oxford"]);
    await result().getByRole("link", { name: "Try in chat" }).click();
    await page.waitForURL(/\/chat\?/);
    await expect.poll(() => page.getByLabel("Your question").inputValue()).toBe("Plan a day in **Oslo**.");
    await page.goto(address("?tab=templates"));
    await page.getByLabel(/^name/).fill("Paris");
    await page.getByRole("button", { name: "Read resource" }).click();
    await result().getByText("a city").waitFor();
  },
);

test.runIf(isThorough)(
  "PRJ-4 UI-5 list, form and result scroll by themselves at 1440 px and are stacked at 360 px",
  async () => {
    await openTool("work");
    const heights = () =>
      page.evaluate(() => [
        document.documentElement.scrollHeight - innerHeight,
        ...[...document.querySelectorAll("[data-pane]")].map((each) => Math.round(each.getBoundingClientRect().top)),
      ]);
    await expect.poll(async () => new Set((await heights()).slice(1)).size).toBe(1);
    await expect.poll(async () => (await heights())[0]).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 640 });
    await callButton().waitFor();
    expect(await callButton().evaluate((button) => button.getBoundingClientRect().bottom < innerHeight)).toBe(true);
    await page.setViewportSize({ width: 360, height: 800 });
    await expect.poll(async () => new Set((await heights()).slice(1)).size).toBeGreaterThan(1);
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await expectAccessible(page);
    }
  },
);
