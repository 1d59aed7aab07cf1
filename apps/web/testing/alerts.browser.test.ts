import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "@towpath/core/ids";
import { seedProject } from "@towpath/core/testing";
import { member as memberTable } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;

/** A receiver of webhooks. */
const received: { readonly path: string; readonly signed: boolean; readonly body: Record<string, unknown> }[] = [];
let status = 200;
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += String(piece);
  const signed = String(request.headers["webhook-signature"]).startsWith("v1,");
  received.push({ path: request.url ?? "", signed, body: JSON.parse(body) });
  response.writeHead(status).end(status === 200 ? "ok" : "no_service");
});
beforeAll(async () => {
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  owner = await seededMember(site.url, site.db);
  await seedProject(site.db, owner.organization, { name: "calm-amber-lynx" });
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => {
  receiver.close();
  receiver.closeAllConnections();
});

const hook = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
const screen = () => `${site.url}/${owner.organization.slug}/settings/alerts`;
const item = (name: string, on = page) =>
  on.getByRole("list", { name: "Channels" }).getByRole("listitem").filter({ hasText: name });

test("CAP-6 an owner adds a Slack channel, tests it, and sees the receiver's answer and the deliveries", async () => {
  await page.goto(screen());
  await page.getByText("Nobody is alerted yet").waitFor();
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Add channel" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Add channel" }).click();
  await dialog.getByText("Name is required").waitFor();
  await dialog.getByText("Enter the webhook's address").waitFor();
  await dialog.getByLabel("Name").fill("On call");
  await dialog.getByLabel("Address").fill("https://10.0.0.1/hook");
  await dialog.getByRole("button", { name: "Add channel" }).click();
  await dialog.getByText("ask the operator to allow that in TOWPATH_EXTERNAL_NETWORKS").waitFor();
  await expectAccessible(page);
  await dialog.getByLabel("Address").fill(hook("/slack"));
  await dialog.getByRole("checkbox", { name: "Slow calls" }).click();
  await dialog.getByRole("checkbox", { name: "Hold messages at some hours" }).click();
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await dialog.getByLabel("Servers").click();
  await page.getByRole("option", { name: "Selected servers" }).click();
  await page.getByRole("checkbox", { name: "calm-amber-lynx" }).click();
  await dialog.getByRole("button", { name: "Add channel" }).click();
  await dialog.waitFor({ state: "hidden" });
  await expect
    .poll(() => item("On call").textContent())
    .toMatch(/Slack · 127\.0\.0\.1.*Slow calls.*Only calm-amber-lynx · Quiet from 22:00 to 07:00 \(Europe\/Berlin\)/);
  await page.getByRole("button", { name: "Test On call" }).click();
  await item("On call").getByText("The receiver answered 200: ok").waitFor();
  status = 404;
  await page.getByRole("button", { name: "Test On call" }).click();
  await item("On call").getByText("The receiver answered 404: no_service").waitFor();
  status = 200;
  expect(received).toMatchObject([
    { path: "/slack", signed: true, body: { text: expect.stringContaining("Test of the channel On call") } },
    { path: "/slack" },
  ]);
  const table = page.getByRole("table", { name: "Recent deliveries" });
  await expect.poll(() => table.getByRole("row").count()).toBe(3);
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)(
  "CAP-6 a signed webhook shows its secret once, by keyboard it is edited, replaced, switched off and deleted",
  async () => {
    await page.goto(screen());
    await page.getByRole("button", { name: "Add channel" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Send to").click();
    await page.getByRole("option", { name: "Signed webhook" }).click();
    await dialog.getByLabel("Name").fill("Pager");
    await dialog.getByLabel("Address").fill(hook("/pager"));
    await dialog.getByRole("button", { name: "Add channel" }).click();
    const secret = page.getByTestId("signing-secret");
    const first = await secret.textContent();
    expect(first).toMatch(/^whsec_/);
    await expectAccessible(page);
    await page.getByRole("button", { name: "I've copied it" }).click();
    await page.reload();
    await item("Pager").waitFor();
    expect(await page.content()).not.toContain(first ?? "-");
    const choose = async (name: string) => {
      await page.getByRole("button", { name: "Actions for Pager" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name }).press("Enter");
    };
    await choose("Edit");
    await dialog.getByLabel("Name").fill("Pagers");
    await dialog.getByRole("button", { name: "Save" }).press("Enter");
    await item("Pagers").waitFor();
    await page.getByRole("button", { name: "Actions for Pagers" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "New secret" }).press("Enter");
    await dialog.getByRole("button", { name: "Make new secret" }).press("Enter");
    await expect.poll(() => secret.textContent()).not.toBe(first);
    await page.getByRole("button", { name: "Actions for Pagers" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Switch off" }).press("Enter");
    await item("Pagers").getByText("Off", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for Pagers" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
    await dialog.getByRole("button", { name: "Delete" }).press("Enter");
    await item("Pagers").waitFor({ state: "detached" });
  },
);

test.runIf(isThorough)(
  "CAP-6 members see channels without buttons; a server's settings say when calls are slow and lead there",
  async () => {
    const other = await seededMember(site.url, site.db);
    await site.db.delete(memberTable).where(eq(memberTable.userId, other.userId));
    const organizationId = owner.organization.id;
    await site.db.insert(memberTable).values({ id: newId(), organizationId, userId: other.userId, role: "member" });
    const theirs = await browser.signedInPage(site.url, { ...other, organization: owner.organization });
    await theirs.goto(screen());
    await item("On call", theirs).waitFor();
    expect(await theirs.getByRole("button", { name: /Add channel|Test On call|Actions for/ }).count()).toBe(0);
    await theirs.goto(`${site.url}/${owner.organization.slug}/calm-amber-lynx/settings#alerts`);
    const form = theirs.getByRole("form", { name: "Alerts" });
    await form.getByLabel("Slower than, in milliseconds").fill("soon");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Enter milliseconds").waitFor();
    await form.getByLabel("Slower than, in milliseconds").fill("2000");
    await form.getByRole("button", { name: "Save" }).click();
    await theirs.getByText("Saved", { exact: true }).waitFor();
    await theirs.reload();
    await expect.poll(() => form.getByLabel("Slower than, in milliseconds").inputValue()).toBe("2000");
    await theirs.getByRole("link", { name: "the organization's alerts" }).click();
    await theirs.getByRole("heading", { name: "Alerts", level: 1 }).waitFor();
  },
);

test("CAP-6 over REST channels are made, changed, tested and deleted, and a server's latency rule is read and set", async () => {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${site.url}/api/v1${path}`, init);
    return [response.status, await response.json()] as const;
  };
  const channels = `/organizations/${owner.organization.slug}/alert-channels`;
  const given = { name: "Rest", format: "standard", url: hook("/rest"), events: ["error.new"] };
  const [, made] = await call("POST", channels, given);
  expect(made).toMatchObject({ channel: { name: "Rest", servers: null }, secret: expect.stringMatching(/^whsec_/) });
  const one = `${channels}/${made.channel.id}`;
  expect(await call("POST", `${one}/test`)).toMatchObject([200, { status: "sent", lastStatus: 200 }]);
  expect(received.at(-1)).toMatchObject({ path: "/rest", body: { type: "test" } });
  expect(await call("PATCH", one, { enabled: false })).toMatchObject([200, { state: "off" }]);
  expect((await call("POST", `${one}/secret`))[1].secret).not.toBe(made.secret);
  const [, deliveries] = await call("GET", `/organizations/${owner.organization.slug}/alert-deliveries?limit=1`);
  expect(deliveries).toMatchObject([{ channel: { name: "Rest" }, kind: "test" }]);
  expect(await call("DELETE", one)).toEqual([200, { id: made.channel.id }]);
  expect(await call("DELETE", one)).toMatchObject([404, {}]);
  expect(await call("POST", channels, { ...given, evnets: [] })).toMatchObject([
    400,
    { error: { code: "unknown_field" } },
  ]);
  const rule = "/projects/calm-amber-lynx/latency-rule";
  expect(await call("PUT", rule, { latencyMs: null, latencyFactor: 5 })).toMatchObject([200, { latencyFactor: 5 }]);
  expect(await call("GET", rule)).toEqual([200, { latencyMs: null, latencyFactor: 5 }]);
});
