import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedProject } from "@towpath/core/testing";
import { githubInstallation } from "@towpath/db/schema";
import { git, makeRepository } from "@towpath/git/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openSiteWithGitHub } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const { site, gitHub } = openSiteWithGitHub();
const browser = openBrowser();
let directory: string;
let owner: Member;
let page: Page;
let pushUrl: string;
let address: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  directory = await mkdtemp(join(tmpdir(), "towpath-code-github-"));
  await makeRepository(work(), { "server.py": "mcp = None\n" });
  await gitHub.admin.ensureAccount({ login: "ada", type: "User" });
  const { installationId } = await gitHub.admin.ensureInstallation({ login: "ada" });
  const organizationId = owner.organization.id;
  await site.db
    .insert(githubInstallation)
    .values({ installationId, organizationId, accountLogin: "ada", accountType: "User" });
  const made = await gitHub.admin.ensureRepository({ owner: "ada", name: "weather", private: true });
  pushUrl = made.pushUrl;
  await git(work(), "push", "--quiet", pushUrl, "main");
  const { name } = await seedProject(site.db, owner.organization, {
    installationId,
    repositoryId: made.repository.id,
    repositoryFullName: "ada/weather",
    entrypoint: "server.py",
  });
  address = `${site.url}/${owner.organization.slug}/${name}/code`;
  page = await browser.signedInPage(site.url, owner);
  await page.context().request.post(`${gitHub.url}/login`, { form: { existing: "ada", return_to: "/" } });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const work = () => join(directory, "work");
const dialog = () => page.getByRole("dialog", { name: "Commit your changes" });
const text = () => page.getByRole("textbox", { name: "Text of server.py" });
const log = async (branch: string) => {
  await git(work(), "fetch", "--quiet", pushUrl, branch);
  return (await git(work(), "log", "--format=%an: %s", "FETCH_HEAD")).split("\n");
};

async function add(typed: string) {
  await text().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type(typed);
}

test.runIf(isThorough)(
  "CAP-5 GH-4 a commit to GitHub is in the person's own name: GitHub asks once, and the text is kept on the way",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(address);
    await add("# mine\n");
    await page.getByRole("button", { name: "Commit 1 file" }).click();
    await dialog().getByLabel("Message").fill("Say whose it is");
    await dialog().getByRole("radio", { name: "A new branch" }).check();
    await dialog().getByRole("textbox", { name: "Name of the new branch" }).fill("mine");
    expect(await dialog().getByRole("checkbox", { name: "Open a pull request to main" }).isChecked()).toBe(true);
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    const commit = dialog().getByRole("button", { name: "Commit to the new branch" });
    await commit.click();
    // Not that of the dialog.
    await page.waitForURL(/\/login\/oauth\/authorize/);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("You declined it there.").waitFor();
    expect(await dialog().getByLabel("Message").inputValue()).toBe("Say whose it is");
    await commit.click();
    await page.getByRole("button", { name: /^Authorize/ }).click();
    await dialog().getByText("You signed in to GitHub as ada").waitFor();
    expect(await dialog().getByLabel("Message").inputValue()).toBe("Say whose it is");
    expect(await dialog().getByRole("textbox", { name: "Name of the new branch" }).inputValue()).toBe("mine");

    // What GitHub refuses is shown with its reason, and the text stays.
    await gitHub.setPushRule('echo "error: GH013: Push cannot contain secrets." >&2\nexit 1');
    await commit.click();
    await dialog().getByText("Nothing was committed").waitFor();
    await dialog()
      .getByText(/GH013: Push cannot contain secrets/)
      .waitFor();
    await gitHub.setPushRule(null);
    await commit.click();
    await page.getByText(/^Committed \w{7} to mine$/).waitFor();
    expect(await page.getByRole("link", { name: "Open the pull request" }).getAttribute("href")).toContain(
      `${gitHub.url}/ada/weather/pull/`,
    );
    expect((await log("mine"))[0]).toBe("ada: Say whose it is");
    expect((await log("main"))[0]).toBe("Ada Lock: First");

    // The next commit needs no visit of GitHub.
    await add("# again\n");
    await page.getByRole("button", { name: "Commit 1 file" }).click();
    await dialog()
      .getByRole("button", { name: /^Commit( and deploy)?$/ })
      .click();
    await expect.poll(async () => (await log("mine"))[0]).toBe("ada: Update server.py");
    // The dialog has closed and given the focus back, and the page shows the commit.
    await dialog().waitFor({ state: "detached" });
    await page.getByText("Update server.py", { exact: true }).waitFor();

    // Of a branch that is deleted meanwhile the text goes to a new one. A pull request to it can't be opened.
    await git(work(), "push", "--quiet", pushUrl, "--delete", "mine");
    await add("# alone\n");
    await page.getByRole("button", { name: "Commit 1 file" }).click();
    await dialog().getByRole("radio", { name: "A new branch" }).check();
    await dialog().getByRole("textbox", { name: "Name of the new branch" }).fill("alone");
    await commit.click();
    await page.getByText("The pull request was not opened").waitFor();
    await page.getByText(/^Committed \w{7} to alone$/).waitFor();
    expect(await log("alone")).toEqual([
      "ada: Update server.py",
      "ada: Update server.py",
      "ada: Say whose it is",
      "Ada Lock: First",
    ]);
    expect(site.output()).not.toMatch(/forge_[iu]_/);
  },
);
