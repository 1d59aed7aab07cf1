import { newId } from "@towpath/core/ids";
import { recordDataUsage } from "@towpath/core/operations/data-volume";
import { sampleDiagnosis, seedLiveVersion, seedProject, shaOf } from "@towpath/core/testing";
import { auditLog, build, project, requestLog, secret } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Locator, Page, Request } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser, passTimeUntil } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let member: Member;
let own: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  own = await seedProject(site.db, member.organization);
  page = await browser.signedInPage(site.url, member);
});

const key = () => ({ orgSlug: member.organization.slug, projectName: own.name });
const goTo = (screen: string) => page.goto(`${site.url}/${member.organization.slug}/${own.name}/${screen}`);
const stored = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0];

test.runIf(isThorough)(
  "GW-7 PRJ-11 a switch in the settings turns on capturing payloads and says what that means",
  async () => {
    await goTo("settings");
    const keep = page.getByRole("switch", { name: "Keep payloads" });
    await page.getByText("Everyone in this organization can read them in the log").waitFor();
    for (const kept of [true, false]) {
      await keep.click();
      await expect.poll(async () => (await stored())?.capturePayloads, { timeout: 15_000 }).toBe(kept);
      await page.reload();
      await expect.poll(() => keep.isChecked(), { timeout: 15_000 }).toBe(kept);
      await page.getByText(kept ? /^Turned on by/ : /^Turned off by/).waitFor();
      await expectAccessible(page);
    }
  },
);

test.runIf(isThorough)(
  "BLD-19 PRJ-11 lasting data is switched on in the settings, which say how full it is",
  async () => {
    const volumes = [{ id: own.id, usedBytes: 950 * 1024 ** 2, capacityBytes: 1000 * 1024 ** 2 }];
    await recordDataUsage(site.db, { host: "one", at: new Date(), volumes });
    await goTo("settings");
    await page.getByText("Files are lost on restart unless Keep /data is on.").waitFor();
    await page.getByText("No files are kept.").waitFor();
    await page.getByRole("switch", { name: "Keep /data" }).click();
    await page.getByText("Files in /data are kept.").waitFor();
    await expect.poll(async () => (await stored())?.keepsData, { timeout: 15_000 }).toBe(true);
    await page.getByText("950 MB of 1000 MB used").waitFor();
    await page.getByText("Almost full.").waitFor();
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "PRJ-11 VAL-1 a server is renamed on its page: old pages lead to the new ones until the name is released",
  async () => {
    const { organization } = member;
    const old = await seedProject(site.db, organization);
    const to = `renamed-${old.id.slice(-8)}`;
    const pageOf = (name: string, screen: string) => `${site.url}/${organization.slug}/${name}/${screen}`;
    await page.goto(pageOf(old.name, "settings"));
    const form = page.getByRole("form", { name: "General" });
    const save = form.getByRole("button", { name: "Save" });
    const name = form.getByRole("textbox", { name: "Name" });
    await name.fill(own.name);
    await form.getByText("This project name is already taken").waitFor();
    const refused = page.waitForResponse((response) => response.request().method() === "POST");
    await save.click();
    await refused;
    await expect.poll(() => save.getAttribute("aria-busy")).toBeNull();
    await expect.poll(() => name.getAttribute("aria-invalid")).toBe("true");
    // The server's refusal of one name isn't shown for another.
    await name.fill(to);
    await form.getByText("The old address keeps working for 90 days.").waitFor();
    await form.getByRole("textbox", { name: /^Description/ }).fill("Tells the weather");
    await form.getByRole("checkbox", { name: "Public page" }).click();
    await save.click();
    await page.waitForURL(pageOf(to, "settings"));
    await page.getByText("Renamed. The new address works from now on.").waitFor();
    await form.getByRole("list", { name: "Former names" }).getByText(old.name).waitFor();
    await expectAccessible(page);
    const [row] = await site.db.select().from(project).where(eq(project.id, old.id));
    expect(row).toMatchObject({ name: to, description: "Tells the weather", isPublic: true });

    await page.goto(pageOf(old.name, "logs?status=error"));
    await page.waitForURL((url) => url.pathname.endsWith(`/${to}/logs`) && url.searchParams.get("status") === "error");
    const publicPage = await fetch(`${site.url}/app/${old.name}`, { redirect: "manual" });
    expect([publicPage.status, publicPage.headers.get("location")]).toEqual([307, `/app/${to}`]);

    await page.goto(pageOf(old.name, "settings"));
    await form.getByRole("button", { name: `Release ${old.name}` }).click();
    const dialog = page.getByRole("dialog", { name: `Release ${old.name}?` });
    await dialog.getByText("Clients that still use this address stop working at once").waitFor();
    await dialog.getByRole("button", { name: "Release name" }).click();
    // An open dialog hides the roles below it: the list would count as gone before the name is.
    await dialog.waitFor({ state: "detached" });
    await form.getByRole("list", { name: "Former names" }).waitFor({ state: "detached" });
    await page.goto(pageOf(old.name, "settings"));
    await page.getByRole("heading", { name: "Page Not Found" }).waitFor();
  },
);

test.runIf(isThorough)("GW-7 PRJ-5 the log's drawer shows a captured payload", async () => {
  await site.db.insert(requestLog).values({
    id: newId(),
    time: new Date(),
    organizationId: member.organization.id,
    projectId: own.id,
    deploymentId: newId(),
    kind: "request",
    httpMethod: "POST",
    method: "tools/call",
    target: "echo",
    httpStatus: 200,
    isError: false,
    outcome: "ok",
    durationMs: 1,
    requestBytes: 10,
    responseBytes: 10,
    principal: "anonymous",
    requestPayload: { params: { arguments: { text: "kept words" } } },
  });
  await goTo("logs");
  await page.getByRole("row").filter({ hasText: "echo" }).first().click();
  await page.getByText("Request payload").waitFor();
  await page.getByText("kept words").first().waitFor();
});

test("PRJ-5 LOG-5 the open log shows a new call soon, and requests nothing while there is none", async () => {
  const open = await browser.signedInPage(site.url, member);
  await open.clock.install();
  await open.goto(`${site.url}/${member.organization.slug}/${own.name}/logs`);
  await open.getByText("Following", { exact: true }).waitFor();
  let asked = 0;
  // A shared request names its calls in the body.
  const textOf = (request: Request) => request.url() + (request.postData() ?? "");
  open.on("request", (request: Request) => void (textOf(request).includes("timeRange") && asked++));
  // Requests caused by connecting may come at any time; polling never ends.
  const requestsIn20Seconds = async () => {
    asked = 0;
    await open.clock.runFor(20_000);
    return asked;
  };
  await expect.poll(requestsIn20Seconds).toBe(0);
  await writeRequestLogs(site.pool, [requestLogRow({ projectId: own.id, target: "just_now" })]);
  await passTimeUntil(open, open.getByRole("row").filter({ hasText: "just_now" }));
  expect(asked).toBeGreaterThan(0);
  await open.context().close();
});

test("KEY-1 a new value set in the dashboard keeps a preview-only variable out of production", async () => {
  const secrets = [{ keyName: "API_KEY", secretValue: "old", environments: ["preview"] }];
  const { status } = await callServerFunction(member.visitor, "settings.saveVariables", "POST", {
    ...key(),
    secrets,
  });
  expect(status).toBe(200);
  await goTo("settings");
  await page.getByText("Previews only").waitFor();
  await page.getByRole("button", { name: "Edit API_KEY" }).click();
  await page.getByLabel("Value of API_KEY", { exact: true }).fill("new");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [row] = await site.db.select().from(secret).where(eq(secret.projectId, own.id));
  expect(row).toMatchObject({ version: 2, environments: ["preview"] });
  await page.getByText("Previews only").waitFor();
});

test.runIf(isThorough)(
  "KEY-1 KEY-5 description, environments and sensitivity are edited without the value, by keyboard, at 360 px",
  async () => {
    const change = async (edit: (dialog: Locator) => Promise<void>) => {
      await page.getByRole("button", { name: "Edit API_KEY" }).focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox", { name: /^Description/ }).waitFor();
      await edit(dialog);
      await dialog.getByRole("button", { name: "Save changes" }).focus();
      await page.keyboard.press("Enter");
    };
    const closed = () => page.getByRole("dialog").waitFor({ state: "detached" });
    const one = async () => (await site.db.select().from(secret).where(eq(secret.keyName, "API_KEY")))[0];
    await page.setViewportSize({ width: 360, height: 740 });
    await goTo("settings");
    const before = await one();
    // Nothing changed: no new version.
    await change(async () => {});
    await closed();
    await expect.poll(async () => (await one())?.version).toBe(before?.version);
    await change(async (dialog) => {
      await dialog.getByRole("textbox", { name: /^Description/ }).fill("For the weather service");
      await dialog.getByRole("checkbox", { name: "Production" }).press("Space");
      await dialog.getByRole("checkbox", { name: /^Sensitive/ }).press("Space");
      await expectAccessible(page);
    });
    await closed();
    await page.getByText("For the weather service").waitFor();
    await expect
      .poll(() => one())
      .toMatchObject({
        description: "For the weather service",
        environments: ["production", "preview"],
        sensitive: true,
      });
    // Unchecking doesn't reveal its value again.
    await change((dialog) => dialog.getByRole("checkbox", { name: /^Sensitive/ }).press("Space"));
    await page.getByText("A sensitive value can't be made visible. Enter a new value to change this.").waitFor();
    await page.getByLabel("Value of API_KEY", { exact: true }).fill("new and visible");
    await page.getByRole("button", { name: "Save changes" }).click();
    await closed();
    await page.getByRole("button", { name: "Show API_KEY", exact: true }).click();
    await page.getByText("new and visible").waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    const revealed = { ...key(), keyName: "API_KEY" };
    expect((await callServerFunction(member.visitor, "settings.revealVariable", "POST", revealed)).status).toBe(200);
    await site.db.delete(auditLog).where(eq(auditLog.action, "secret.decrypt"));
  },
);

test("KEY-1 KEY-2 the page offers environments and sensitivity, shows what may be shown, and what to redeploy", async () => {
  await goTo("settings");
  await page.getByLabel("Name of variable 1", { exact: true }).fill("REGION");
  await page.getByLabel("Value of REGION", { exact: true }).fill("north by northwest");
  await page
    .getByRole("form", { name: "Add environment variables" })
    .getByRole("textbox", { name: /^Description/ })
    .fill("Where it looks");
  await page.getByRole("checkbox", { name: "Production" }).click();
  await page.getByRole("checkbox", { name: /^Sensitive/ }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save variables" }).click();
  await page.getByRole("button", { name: "Show REGION", exact: true }).click();
  await page.getByText("north by northwest").waitFor();
  await page.getByRole("button", { name: "Hide REGION", exact: true }).click();
  await page.getByText("north by northwest").waitFor({ state: "detached" });
  const audited = await site.db.select().from(auditLog).where(eq(auditLog.action, "secret.decrypt"));
  expect(audited).toMatchObject([{ projectId: own.id, subject: "REGION", detail: { reason: "reveal" } }]);
  const [row] = await site.db.select().from(secret).where(eq(secret.keyName, "REGION"));
  expect(row).toMatchObject({ environments: ["preview"], sensitive: false, description: "Where it looks" });
  const saved = { ...key(), secrets: [{ keyName: "HIDDEN_KEY", secretValue: "hidden", sensitive: true }] };
  expect((await callServerFunction(member.visitor, "settings.saveVariables", "POST", saved)).status).toBe(200);
  const hidden = { ...key(), keyName: "HIDDEN_KEY" };
  expect((await callServerFunction(member.visitor, "settings.revealVariable", "POST", hidden)).status).toBe(409);
  await seedLiveVersion(site.db, own, { label: own.name, secretVersionIds: [], manifest: null });
  await goTo("settings");
  await page.getByText("Changed since the live deployment of main: rebuild to apply").waitFor();
  await page.getByRole("button", { name: "Rebuild main" }).waitFor();
  await expect.poll(() => page.content()).not.toContain("north by northwest");
});

test.runIf(isThorough)(
  "KEY-1 the page asks for variables that a failed build lacked; by keyboard, the focus stays at the next field",
  async () => {
    const needy = await seedProject(site.db, member.organization);
    const failed = {
      id: newId(),
      projectId: needy.id,
      branchId: needy.branchId,
      status: "failed",
      commitSha: shaOf("n"),
    };
    const action = { kind: "variables", names: ["WEATHER_KEY"] };
    const diagnosis = { ...sampleDiagnosis, code: "variable_missing", action };
    await site.db.insert(build).values({ ...failed, trigger: "push", sequence: 1, entrypoint: "echo.py", diagnosis });
    await page.goto(`${site.url}/${member.organization.slug}/${needy.name}/settings`);
    const missing = page.getByText("The latest build of main failed: WEATHER_KEY is missing");
    await missing.waitFor();
    const nameField = page.getByLabel("Name of variable 1", { exact: true });
    const save = page.getByRole("button", { name: "Save variables" });
    const isFocused = (locator: Locator) =>
      expect.poll(() => locator.evaluate((element) => element === document.activeElement)).toBe(true);
    const add = async (value: string) => {
      await page
        .getByLabel(/^Value of /)
        .first()
        .fill(value);
      await save.press("Enter");
      await expect.poll(() => nameField.inputValue()).toBe("");
      await isFocused(save);
    };
    await expect.poll(() => nameField.inputValue()).toBe("WEATHER_KEY");
    await add("not yet known");
    await missing.waitFor({ state: "detached" });
    const table = page.getByRole("table", { name: "Environment variables" });
    const row = (name: string) => table.getByRole("row").filter({ hasText: name });
    await row("WEATHER_KEY").getByText("Sensitive").waitFor();
    await nameField.fill("WEATHER_KEY");
    await page.getByText("This replaces the value of WEATHER_KEY, with what you choose below.").waitFor();
    await nameField.fill("REGION");
    await page.getByText("This replaces the value of").waitFor({ state: "detached" });
    await add("north");
    await row("REGION").getByText("Production, previews").waitFor();
    const remove = async (name: string) => {
      await page.getByRole("button", { name: `Delete ${name}`, exact: true }).press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: "Delete variable" }).press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await row(name).waitFor({ state: "detached" });
    };
    await remove("REGION");
    await isFocused(page.getByRole("button", { name: "Edit WEATHER_KEY" }));
    await remove("WEATHER_KEY");
    await page.getByText("No variables yet").waitFor();
    await isFocused(nameField);
    // Its build lacks it again.
    await missing.waitFor();
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "GW-12 PRJ-11 the settings explain answers for a sleeping server, and show the live build's recording",
  async () => {
    const fresh = await seedProject(site.db, member.organization);
    const storedChoice = async () =>
      (await site.db.select().from(project).where(eq(project.id, fresh.id)))[0]?.sleepingLists;
    await page.goto(`${site.url}/${member.organization.slug}/${fresh.name}/settings`);
    const choice = page.getByRole("radiogroup", { name: "When a client connects to a sleeping server" });
    const radio = (name: RegExp) => choice.getByRole("radio", { name });
    await expect.poll(() => radio(/^Wake the server/).isChecked()).toBe(true);
    await page.getByText("Keep waking the server if its lists change").waitFor();
    await radio(/^Answer if all callers see the same lists/).click();
    await expect.poll(storedChoice, { timeout: 15_000 }).toBe("stable");
    await page.getByText("Takes effect with the first deployment.").waitFor();
    // While saving, the control ignores input and keeps the focus.
    await expect.poll(() => choice.getAttribute("aria-readonly")).not.toBe("true");
    await expect
      .poll(() => radio(/^Answer if all callers see the same lists/).evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.keyboard.press("ArrowRight");
    await expect.poll(storedChoice, { timeout: 15_000 }).toBe("always");
    await page.reload();
    await expect.poll(() => radio(/^Always answer/).isChecked(), { timeout: 15_000 }).toBe(true);
    await expectAccessible(page);
  },
);
