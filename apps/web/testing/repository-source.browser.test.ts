import { exec } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { gitEnvironment } from "@towpath/git";
import { makeRepository } from "@towpath/git/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let directory: string;
let owner: Member;
let page: Page;
let key: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-repository-source-"));
  await makeRepository(join(directory, "work"), { "server.py": "mcp = None\n" });
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
  const ctx = testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "git", scope: "manage" } as const;
  key = (await createApiKey({ ctx, input })).key;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function post(path: string, body: unknown) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${site.url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
const identity = ["AUTHOR", "COMMITTER"].flatMap((of) => [
  [`GIT_${of}_NAME`, "Ada"],
  [`GIT_${of}_EMAIL`, "ada@example.com"],
]);
const shell = (command: string, cwd: string) =>
  promisify(exec)(`set -e\n${command}`, { cwd, env: { ...gitEnvironment(cwd), ...Object.fromEntries(identity) } });

test.runIf(isThorough)(
  "SRC-3 UI-2 overview and settings of a server show its repository and commands that run as they are copied",
  async () => {
    for (const name of ["weather", "river"]) {
      await post("/repositories", { name });
      const url = `${site.url.replace("://", `://x:${key}@`)}/git/${owner.organization.slug}/${name}.git`;
      await shell(`git push --quiet ${url} main`, join(directory, "work"));
    }
    const server = `weather-${owner.organization.slug.slice(-6)}`;
    await post("/repositories/weather/deploy", { name: server });
    await page.goto(`${site.url}/${owner.organization.slug}/${server}/settings#source`);
    const source = page.locator("#source");
    await source.getByText("Repository of this instance", { exact: true }).waitFor();
    await source.getByText(`${site.url}/git/${owner.organization.slug}/weather.git`).waitFor();
    await source.getByText("builds a push at once").waitFor();
    expect(await source.getByRole("switch").isChecked()).toBe(true);
    await source.getByRole("button", { name: "Get commands" }).press("Enter");
    const shown = source.getByRole("region", { name: "Clone and push" });
    await shown.getByText("Clone it").waitFor();
    const [clone = "", push = ""] = await shown.locator("code").allTextContents();
    await shell(clone, directory);
    await shell(push, join(directory, "weather"));
    await shown.scrollIntoViewIfNeeded();
    await expectAccessibleInBothThemes(page);

    await page.goto(`${site.url}/${owner.organization.slug}/${server}`);
    const change = page.locator("#change");
    await change.getByRole("button", { name: "Add a key to the commands" }).click();
    await change.getByText("They contain a key that acts as you").waitFor();
    await expectAccessibleInBothThemes(page);
    const steps = (await change.getByRole("group", { name: "commands" }).textContent()) ?? "";
    await mkdir(join(directory, "elsewhere"));
    await shell(steps.replace(/^# edit .*$/m, "echo '# changed' >> server.py"), join(directory, "elsewhere"));
    const { stdout } = await shell("git log --format=%s origin/main", join(directory, "elsewhere", "weather"));
    expect(stdout.split("\n")[0]).toMatch(/^Change /);

    await page.goto(`${site.url}/${owner.organization.slug}/${server}/settings#source`);
    await source.getByRole("button", { name: "Change source" }).click();
    const form = source.getByRole("form", { name: "Change source" });
    await source.getByRole("combobox", { name: "New place of the code" }).press("Enter");
    await page.getByRole("option", { name: "A repository of this instance" }).click();
    await form.getByRole("combobox", { name: "Repository" }).press("Enter");
    await page.getByRole("option", { name: "river", exact: true }).click();
    await form.scrollIntoViewIfNeeded();
    await expectAccessibleInBothThemes(page);
    await form.getByRole("button", { name: "Change source and build" }).click();
    await page.waitForURL(/\/build-logs\//);
    await page.goto(`${site.url}/${owner.organization.slug}/${server}/settings#source`);
    await source.getByText("river", { exact: true }).waitFor();
  },
);
