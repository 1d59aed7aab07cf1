import { manifestOf } from "@towpath/chat/testing";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { member as membership, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let member: Member;
let page: Page;
let own: Awaited<ReturnType<typeof seedProject>>;
let deploymentId: string;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, member);
  own = await seedProject(site.db, member.organization);
});

const goTo = () => page.goto(`${site.url}/${member.organization.slug}/${own.name}/chat`);

test("PRJ-9 before anything is live the page says so, and leads to the deployments", async () => {
  await goTo();
  await page.getByText("Nothing is live yet").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Go to deployments" }).waitFor();
  await expectAccessible(page);
});

test("CHAT-1 CHAT-2 CAP-4 without a model the page says how to configure one and suggests questions from templates; nothing can be asked", async () => {
  const version = { label: own.name, manifest: manifestOf([{ name: "add" }]) };
  ({ deploymentId } = await seedLiveVersion(site.db, own, version));
  await goTo();
  await page.getByText("TOWPATH_CHAT_MODELS", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show me an example of add: does add." }).waitFor();
  // Checks ask the same models.
  await site.db
    .update(project)
    .set({ checkQuestions: { isOn: true } })
    .where(eq(project.id, own.id));
  await page.goto(`${site.url}/${member.organization.slug}/${own.name}/settings#questions`);
  await page.locator("#questions").getByText("No model is configured, so no question is asked").waitFor();
  await page.locator("#questions").getByRole("link", { name: "how to name one" }).waitFor();
  await goTo();
  await expect.poll(() => page.getByLabel("Your question").isDisabled()).toBe(true);
  await expectAccessible(page);
  const body = JSON.stringify({ chatId: null, question: "Hello", model: "any", deploymentId });
  const path = `/api/projects/${member.organization.slug}/${own.name}/chat`;
  const headers = { "sec-fetch-site": "same-origin" };
  const answer = await member.visitor.request(path, { method: "POST", body, headers });
  expect([answer.status, await answer.text()]).toEqual([501, expect.stringContaining("TOWPATH_CHAT_MODELS")]);
});

test("CHAT-1 people who may neither configure a model nor call the server see whom to ask", async () => {
  await site.db.update(membership).set({ role: "viewer" }).where(eq(membership.organizationId, member.organization.id));
  await goTo();
  await page.getByText(/Ask the operator of this instance/).waitFor();
  await expect
    .poll(() => page.getByLabel("Your question").getAttribute("placeholder"))
    .toMatch(/Your role in this organization/);
  await expectAccessible(page);
});
