import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { build, member, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let person: Member;
let own: Awaited<ReturnType<typeof seedProject>>;
const buildId = newId();

beforeAll(async () => {
  person = await seededMember(site.url, site.db);
  own = await seedProject(site.db, person.organization);
  await site.db.update(project).set({ authMode: "towpath-cloud" }).where(eq(project.id, own.id));
  await seedLiveVersion(site.db, own, { label: own.name, id: buildId, ownSignIn: true, manifest: null });
  page = await browser.signedInPage(site.url, person);
});

const goTo = (screen: string) => page.goto(`${site.url}/${person.organization.slug}/${own.name}/${screen}`);
const authMode = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.authMode;
const warning = (title: string) => page.getByRole("list", { name: "Warnings" }).getByText(title);

test.runIf(isThorough)(
  "PRJ-12 GW-4 a warning about a server's own sign-in has a button that ends it, on the build and on production",
  async () => {
    await goTo("deployments");
    await warning("Nobody can call this server yet").waitFor();
    await page.getByText("Production is live, with a warning").waitFor();
    await expectAccessible(page);
    const decide = page.getByRole("button", { name: "Let the server decide" });
    await decide.focus();
    await page.keyboard.press("Enter");
    await warning("Nobody can call this server yet").waitFor({ state: "detached" });
    await page.getByText("Production is live", { exact: true }).waitFor();
    await expect.poll(() => authMode()).toBe("passthrough");

    await site.db.update(build).set({ ownSignIn: false }).where(eq(build.id, buildId));
    await goTo(`build-logs/${buildId}`);
    await warning("Anyone can call this server").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Allow members only" }).click();
    await warning("Anyone can call this server").waitFor({ state: "detached" });
    await expect.poll(() => authMode()).toBe("towpath-cloud");
  },
);

test.runIf(isThorough)(
  "PRJ-11 PRJ-12 the access page shows a mode's consequences for the live server at once, and saves it on request",
  async () => {
    await goTo("access");
    const form = page.getByRole("form", { name: "Callers" });
    await form.getByRole("radio", { name: /^The server decides/ }).click();
    await form.getByText("Anyone can call this server", { exact: true }).waitFor();
    await expectAccessible(page);
    await form.getByRole("radio", { name: /^Members only/ }).click();
    await form.getByText("Anyone can call this server", { exact: true }).waitFor({ state: "detached" });
    await site.db.update(build).set({ ownSignIn: true }).where(eq(build.id, buildId));
    await page.reload();
    await form.getByText("Nobody can call this server yet", { exact: true }).waitFor();
    await form.getByRole("radio", { name: /^Open to anyone/ }).click();
    await form.getByText("Clients can't find this server's sign-in", { exact: true }).waitFor();
    await expect.poll(() => authMode()).toBe("towpath-cloud");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Saved. It applies within seconds.").waitFor();
    expect(await authMode()).toBe("towpath-public");
    await page.getByText("Anyone with the URL can call this server, so roles and API keys don't apply.").waitFor();
    await site.db.update(project).set({ authMode: "towpath-cloud" }).where(eq(project.id, own.id));

    await goTo("settings");
    const links = page.getByRole("navigation", { name: "On this page" }).getByRole("link");
    for (const link of await links.all()) {
      const section = page.locator((await link.getAttribute("href")) ?? "");
      expect([await link.textContent(), await section.count()]).toEqual([await link.textContent(), 1]);
    }
    await links.filter({ hasText: "Environment variables" }).click();
    await expect
      .poll(async () => (await page.getByRole("heading", { name: "Environment variables" }).boundingBox())?.y)
      .toBeLessThan(400);
  },
);

test("PRJ-12 a viewer sees the warning and no button", async () => {
  await site.db.update(member).set({ role: "viewer" }).where(eq(member.userId, person.userId));
  await goTo("deployments");
  await warning("Nobody can call this server yet").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Let the server decide" }).count()).toBe(0);
});

const asOperator = (method: string, path: string, body?: unknown) =>
  fetch(`${site.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test("PRJ-11 PRJ-12 PRJ-16 a project is read and its settings changed, those that are given; nonsense and unknown servers are refused", async () => {
  const path = `/api/v1/projects/${own.name}`;
  const before = await (await asOperator("GET", path)).json();
  expect(before).toMatchObject({ id: own.id, name: own.name, requirements: null, ownSignIn: true });
  for (const authMode of ["passthrough", "towpath-public", "towpath-cloud"]) {
    const { entrypoint, description } = before;
    const changed = await (await asOperator("PATCH", path, { authMode })).json();
    expect(changed).toMatchObject({ authMode, entrypoint, description });
    expect((await (await asOperator("GET", path)).json()).authMode).toBe(authMode);
  }
  const built = { entrypoint: "other.py", requirements: "requirements.txt" };
  expect(await (await asOperator("PATCH", path, built)).json()).toMatchObject({ ...built, authMode: "towpath-cloud" });
  expect(await (await asOperator("PATCH", path, {})).json()).toMatchObject(built);
  expect((await asOperator("PATCH", path, { authMode: "oauth" })).status).toBe(422);
  expect((await asOperator("PATCH", path, { entrypoint: "/etc/passwd" })).status).toBe(422);
  for (const method of ["GET", "PATCH"]) {
    const body = method === "GET" ? undefined : { authMode: "passthrough" };
    expect((await asOperator(method, "/api/v1/projects/not-there-at-all", body)).status).toBe(404);
  }
});
