import {
  type ModelReply,
  type ModelRequest,
  type ModelServer,
  manifestOf,
  modernTools,
  openAiModel,
  type RunningToolServer,
} from "@towpath/chat/testing";
import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { chat, chatTurn, chatUsage, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

// The tools and the model are real servers on this machine; the gateway in between is left to tests/e2e/chat.test.ts.

let tools: RunningToolServer;
let model: ModelServer;
const site = openSite(async () => {
  tools = await modernTools();
  model = await openAiModel(answerTo);
  const common = { provider: "openai-compatible", url: model.url, model: "tester-1" };
  const models = [
    { ...common, name: "Tester", key: "a-key-that-nobody-sees" },
    { ...common, name: "Other" },
  ];
  return {
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
    TOWPATH_CHAT_QUESTIONS_PER_HOUR: "500",
    TOWPATH_SERVER_URL: `${tools.url.replace(/\/mcp$/, "")}/{name}`,
  };
});
const browser = openBrowser();
afterAll(() => Promise.all([tools.close(), model.close()]));

const sum =
  'It is **five**, see [the docs](https://example.com/docs).\n\n![x](https://evil.example/?q=5)\n\n<b onclick="x">raw</b>\n\n```python\nprint(2 + 3)\n```';

/** The model's reply to each of the test's questions. */
function answerTo({ body }: ModelRequest): ModelReply {
  const question = JSON.stringify(body.messages.filter(({ role }) => role === "user").at(-1)?.content ?? "");
  const call = (name: string, args: object): ModelReply => ({
    text: ["Let me see. "],
    calls: [{ id: `call-${body.messages.length}`, name, arguments: JSON.stringify(args) }],
  });
  if (JSON.stringify(body.messages[0]).includes("Suggest"))
    return { text: ['```json\n["What is 2 + 3?", "Delete /tmp/a?"]\n```'] };
  if (body.messages.at(-1)?.role === "tool") return { text: question.includes("add") ? [sum] : ["All ", "done."] };
  if (question.includes("add")) return call("add", { a: 2, b: 3 });
  if (question.includes("delete")) return call("files_delete", { path: "/tmp/a" });
  if (question.includes("book")) return call("book", {});
  if (question.includes("refused")) return { status: 401, body: { error: { message: "no" } } };
  if (question.includes("essay")) return { text: ["It begi"], isCut: true };
  if (question.includes("Continue")) return { text: ["ns like this."] };
  if (question.includes("story")) return { text: Array.from({ length: 400 }, () => "word "), pauseMs: 50 };
  return { text: ["Hello ", "there, ", `you asked ${question.length > 400 ? "much" : question}`] };
}

let member: Member;
let page: Page;
let own: { readonly name: string; readonly deploymentId: string; readonly branchId: string; readonly id: string };

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, member);
});
beforeEach(async () => {
  own = await liveServer();
  await page.setViewportSize({ width: 1280, height: 800 });
});

/** A project whose production has the tools of `modernTools`. */
async function liveServer() {
  const seeded = await seedProject(site.db, member.organization, { authMode: "towpath-cloud" });
  const manifest = {
    ...manifestOf([
      { name: "add", inputSchema: { properties: { a: { type: "number" }, b: { type: "number" } } } },
      { name: "files.delete", annotations: {} },
      { name: "book" },
    ]),
    resources: [{ resource_name: "motd", uri: "text://motd", title: null, description: null, mimeType: null }],
    prompts: [],
  };
  const { deploymentId } = await seedLiveVersion(site.db, seeded, { label: seeded.name, manifest });
  return { ...seeded, deploymentId };
}

const key = () => ({ orgSlug: member.organization.slug, projectName: own.name });
const goTo = (search = "") => page.goto(`${site.url}/${member.organization.slug}/${own.name}/chat${search}`);
/** Opens a new chat, ready for use: the suggestions appear when the page's script runs. */
async function openChat(): Promise<void> {
  await goTo();
  await page.getByRole("button", { name: "What is 2 + 3?" }).waitFor();
}
const field = () => page.getByLabel("Your question");
async function ask(question: string): Promise<void> {
  await field().fill(question);
  await field().press("Enter");
}
const ended = () =>
  page
    .getByText(/tokens$/)
    .last()
    .waitFor();
const turns = async () =>
  site.db
    .select({ question: chatTurn.question, status: chatTurn.status, parts: chatTurn.parts, problem: chatTurn.problem })
    .from(chatTurn)
    .innerJoin(chat, eq(chat.id, chatTurn.chatId))
    .where(eq(chat.projectId, own.id))
    .orderBy(chatTurn.createdAt);

test("CHAT-1 PRJ-9 a question is answered with the server's tools, shown with arguments, result and log; it is there after a reload", async () => {
  await openChat();
  await ask("Please add 2 and 3");
  await page.getByText("five", { exact: true }).waitFor();
  await ended();
  const call = page.getByRole("region", { name: "Call of add" });
  await call.getByText("a: 2, b: 3").waitFor();
  await call.getByRole("button", { expanded: false }).click();
  await call.getByText("Arguments").waitFor();
  await call.getByText("Structured content").waitFor();
  await expect
    .poll(() => call.getByRole("link", { name: "Log" }).getAttribute("href"))
    .toMatch(/\/logs\?request=[0-9a-f-]{36}$/);
  expect(tools.seen.findLast(({ method }) => method === "tools/call")).toMatchObject({
    client: "Towpath chat",
    authorization: expect.stringMatching(/^Bearer ey/),
  });
  await expectAccessible(page);
  await expect.poll(() => new URL(page.url()).searchParams.get("chat")).toMatch(/^[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByText("five", { exact: true }).waitFor();
  await expect.poll(() => turns()).toMatchObject([{ question: "Please add 2 and 3", status: "done" }]);
  const [used] = await site.db.select().from(chatUsage).where(eq(chatUsage.projectId, own.id));
  expect(used).toMatchObject({ model: "Tester" });
});

test("CHAT-1 Markdown of a model is safe: no HTML, no image that is fetched, links that leak nothing", async () => {
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await openChat();
  await ask("Please add 2 and 3");
  const link = page.getByRole("link", { name: "the docs" });
  await link.waitFor();
  await expect
    .poll(async () => [await link.getAttribute("rel"), await link.getAttribute("target")])
    .toEqual(["noopener noreferrer nofollow", "_blank"]);
  await page.getByText('<b onclick="x">').waitFor();
  await page.locator(".hljs-number").first().waitFor();
  await expect.poll(() => page.locator("main img").count()).toBe(0);
  expect(requested.filter((url) => url.includes("evil.example"))).toEqual([]);
});

test("CHAT-1 a tool that may delete something waits for the person, who allows it for this chat, and denies it in another", async () => {
  await openChat();
  await ask("delete the file");
  const approval = page.getByRole("group", { name: "Allow files.delete?" });
  await approval.waitFor();
  await expectAccessible(page);
  await approval.getByRole("button", { name: "Always in this chat" }).click();
  await page.getByText("All done.").waitFor();
  await ended();
  await ask("delete it again");
  await expect.poll(async () => (await turns()).map(({ status }) => status)).toEqual(["done", "done"]);
  await expect.poll(() => approval.count()).toBe(0);
  await page.getByRole("button", { name: "New chat" }).click();
  await page.getByRole("heading", { name: `Chat with ${own.name}` }).waitFor();
  await ask("delete the file");
  await approval.getByRole("button", { name: "Deny" }).click();
  await expect.poll(async () => JSON.stringify((await turns()).at(-1)?.parts)).toContain('"denied"');
  expect(tools.seen.filter(({ method }) => method === "tools/call").length).toBeGreaterThan(1);
});

test.runIf(isThorough)(
  "CHAT-1 a form that the server asks for is filled in within the chat, and its answer isn't kept",
  async () => {
    await openChat();
    await ask("book a table");
    const form = page.getByRole("group", { name: "The server asks" });
    await form.getByText("How many seats?").waitFor();
    await form.getByRole("button", { name: "Send answer" }).click();
    await form
      .getByText(/required/i)
      .last()
      .waitFor();
    await form.getByLabel("seats").fill("4");
    await expectAccessible(page);
    await form.getByRole("button", { name: "Send answer" }).click();
    await page.getByText("All done.").waitFor();
    await expect.poll(async () => JSON.stringify((await turns())[0]?.parts)).toContain("booked 4");
    const [row] = await site.db
      .select({ replies: chatTurn.replies })
      .from(chatTurn)
      .innerJoin(chat, eq(chat.id, chatTurn.chatId))
      .where(eq(chat.projectId, own.id));
    expect(row?.replies).toEqual({});
  },
);

test.runIf(isThorough)(
  "CHAT-1 Escape stops an answer, which keeps its text so far; the question can be edited and asked again",
  async () => {
    await openChat();
    await ask("tell me a story");
    await page.getByText(/word word/).waitFor();
    await field().press("Escape");
    await page.getByText("You stopped the answer.").waitFor();
    await expect.poll(async () => (await turns()).map(({ status }) => status)).toEqual(["stopped"]);
    await expect.poll(async () => JSON.stringify((await turns())[0]?.parts)).toContain("word word");
    await page.getByRole("button", { name: "Edit question" }).click();
    await page.getByText("Asking this replaces your last question").waitFor();
    await expect.poll(() => field().inputValue()).toBe("tell me a story");
    await ask("Good morning");
    await page.getByText("Hello there").waitFor();
    await expect
      .poll(async () => (await turns()).map(({ question, status }) => [question, status]))
      .toEqual([["Good morning", "done"]]);
  },
);

test.runIf(isThorough)(
  "CHAT-1 a second page says that the question is being answered elsewhere, and can stop it",
  async () => {
    await openChat();
    await ask("tell me a story");
    await page.getByText(/word word/).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("This question is being answered elsewhere").waitFor();
    await other.getByRole("button", { name: "Stop it" }).click();
    await page.getByText("You stopped the answer.").waitFor();
    await expect.poll(async () => JSON.stringify(await turns())).toContain("word word");
    await other.close();
  },
);

test.runIf(isThorough)(
  "CHAT-1 Shift-Enter begins a line; a key that the provider refuses is explained, without the key, and asked again",
  async () => {
    await openChat();
    // The address names the chat when it has been read, here after the next question.
    const asking = Promise.withResolvers<void>();
    await page.route(/chat\.getOwnChat/, async (route) => {
      await asking.promise;
      await route.continue();
    });
    await field().fill("first line");
    await field().press("Shift+Enter");
    await field().pressSequentially("refused");
    await expect.poll(() => field().inputValue()).toBe("first line\nrefused");
    await field().press("Enter");
    await page.getByText("Tester refused Towpath's key (HTTP 401).").waitFor();
    const before = model.requests.length;
    await page.getByRole("button", { name: "Try again" }).click();
    asking.resolve();
    await page.waitForURL(/\?chat=/);
    await expect.poll(() => model.requests.length).toBe(before + 1);
    expect(model.requests.at(-1)?.key).toBe("a-key-that-nobody-sees");
    await expect.poll(async () => (await turns()).length).toBe(1);
    const html = await (await member.visitor.get(new URL(page.url()).pathname)).text();
    expect([html.includes("a-key-that-nobody-sees"), site.output().includes("a-key-that-nobody-sees")]).toEqual([
      false,
      false,
    ]);
  },
);

test.runIf(isThorough)(
  "CHAT-1 an answer that reached the limit of tokens says so, and Continue asks for the rest of it",
  async () => {
    await openChat();
    await ask("an essay, please");
    await page.getByText("The answer reached Tester's limit of 8,192 tokens").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("ns like this.").waitFor();
    await expect.poll(turns).toMatchObject([
      { status: "failed", problem: { code: "answer_cut" } },
      { status: "done", problem: null },
    ]);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("It begi");
    expect(await page.getByRole("button", { name: "Continue" }).count()).toBe(0);
  },
);

test.runIf(isThorough)(
  "CHAT-2 PRJ-9 suggested questions come from the model once for a manifest; a link fills in its question and asks nothing",
  async () => {
    const asked = () =>
      model.requests.filter(({ body }) => JSON.stringify(body.messages[0]).includes("Suggest")).length;
    const before = asked();
    await goTo();
    await page.getByRole("button", { name: "What is 2 + 3?" }).click();
    await expect.poll(() => field().inputValue()).toBe("What is 2 + 3?");
    await expectAccessible(page);
    await goTo("?q=Shall%20we%3F");
    await page.getByRole("button", { name: "Delete /tmp/a?" }).waitFor();
    await expect.poll(() => field().inputValue()).toBe("Shall we?");
    await expect.poll(async () => [asked() - before, await turns()]).toEqual([1, []]);
  },
);

test.runIf(isThorough)(
  "PRJ-9 branchId and deploymentId choose the version; one that isn't live is named, and no other takes its place",
  async () => {
    for (const search of [`?deploymentId=${own.deploymentId}`, `?branchId=${own.branchId}`, "?branchId=nonsense"]) {
      await goTo(search);
      await page.getByRole("heading", { name: `Chat with ${own.name}` }).waitFor();
    }
    await goTo(`?deploymentId=${newId()}`);
    await page.getByText("This version is not live").waitFor();
  },
);

test("CHAT-1 resources are attached by @, and read for the model", async () => {
  await openChat();
  await field().focus();
  await page.keyboard.press("@");
  await page.getByRole("menuitem", { name: "motd" }).click();
  await page.getByRole("button", { name: "Remove motd" }).waitFor();
  await ask("What does it say?");
  await page.getByText("Hello there").waitFor();
  expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("[Resource text://motd]");
});

test.runIf(isThorough)(
  "CHAT-1 chats are listed, opened, renamed and deleted; somebody else's is not there",
  async () => {
    await openChat();
    await ask("Good morning");
    await ended();
    const chatId = new URL(page.url()).searchParams.get("chat") ?? "";
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: "Rename Good morning" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename chat" });
    await dialog.getByLabel("Name").fill("Greetings");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: "Delete Greetings" }).click();
    await page.getByRole("dialog", { name: "Delete this chat?" }).getByRole("button", { name: "Delete chat" }).click();
    await expect.poll(async () => await turns()).toEqual([]);
    await goTo(`?chat=${chatId}`);
    await page.getByText("Chat not found").waitFor();
  },
);

test("CHAT-1 questions from other sites, strangers and the signed out are refused, and nothing is stored", async () => {
  const path = `/api/projects/${member.organization.slug}/${own.name}/chat`;
  const body = JSON.stringify({ chatId: null, question: "Hello", model: "Tester", deploymentId: own.deploymentId });
  const stranger = await seededMember(site.url, site.db);
  const post = async (visitor: Member["visitor"], headers: Record<string, string>) => {
    const response = await visitor.request(path, { method: "POST", body, headers });
    await response.body?.cancel();
    return response.status;
  };
  const same = { "sec-fetch-site": "same-origin" };
  expect(await post(member.visitor, { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await post(stranger.visitor, same)).toBe(404);
  expect((await fetch(`${site.url}${path}`, { method: "POST", body, headers: same })).status).toBe(401);
  await expect.poll(() => turns()).toEqual([]);
  const manifest = manifestOf([{ name: "add" }]);
  const { status } = await callServerFunction(stranger.visitor, "chat.generateSuggestedQuestions", "POST", {
    ...key(),
    manifest,
  });
  expect(status).toBe(404);
});

test.runIf(isThorough)("CHAT-1 a server that is public or signs callers in itself gets no token of ours", async () => {
  for (const authMode of ["towpath-public", "passthrough"]) {
    await site.db.update(project).set({ authMode }).where(eq(project.id, own.id));
    await openChat();
    if (authMode === "passthrough") await page.getByLabel("Authorization header for the server").fill("Bearer my-own");
    await ask("Please add 2 and 3");
    await page.getByText("five", { exact: true }).waitFor();
    await ended();
    const { authorization } = tools.seen.findLast(({ method }) => method === "tools/call") ?? {};
    expect(authorization).toBe(authMode === "passthrough" ? "Bearer my-own" : null);
  }
});
