import { newId } from "@towpath/core/ids";
import { branch, build, member, user } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { type CodeRepositories, codeRepositories } from "./code-repositories.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
const server = 'import os\n\n\ndef greet(name: str) -> str:\n    return f"Hello {name}"\n';
const content = {
  "server.py": server,
  "lib/weather.py": "def rain():\r\n    return 1\r\n",
  "lib/deep/wind.py": "wind = 3\n",
  "README.md": "# Weather\n",
  "pyproject.toml": '[project]\nname = "weather"\n',
  "logo.bin": new Uint8Array([0, 1]),
  "large.txt": "x".repeat(1_100_000),
};
let owner: Member;
let code: CodeRepositories;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  code = await codeRepositories(site, owner, content);
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => code.close());

const address = (name: string, search = "") => `${site.url}/${owner.organization.slug}/${name}/code${search}`;

const text = (path: string) => page.getByRole("textbox", { name: `Text of ${path}` });
const tree = () => page.getByRole("tree", { name: "Files" });
const dialog = () => page.getByRole("dialog", { name: "Commit your changes" });

test.runIf(isThorough)(
  "CAP-5 UI-4 files of the repository are found by keyboard and by search, shown with their line, and named when they can't be read",
  async () => {
    const { name } = await code.deploy("look");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${site.url}/${owner.organization.slug}/${name}/deployments`);
    await page.getByRole("link", { name: "Code", exact: true }).click();
    await text("server.py").waitFor();
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await tree().getByRole("treeitem", { name: "server.py" }).focus();
    for (const pressed of ["Home", "ArrowRight", "ArrowDown", "ArrowDown"]) await page.keyboard.press(pressed);
    await page.keyboard.press("Enter");
    await text("lib/weather.py").waitFor();
    expect(new URL(page.url()).search).toBe("?branch=main&file=lib%2Fweather.py");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => tree().getByRole("treeitem", { name: "weather.py" }).count()).toBe(0);

    await page.getByRole("searchbox", { name: "Search in files" }).fill("HELLO");
    await page.keyboard.press("Enter");
    await page.getByText("1 line in 1 file").waitFor();
    await page.getByRole("region", { name: "server.py" }).getByRole("link").click();
    await text("server.py").waitFor();
    await expect.poll(() => page.locator(".cm-marked").textContent()).toContain("Hello");
    expect(new URL(page.url()).searchParams.get("line")).toBe("5");
    await page.reload();
    await expect.poll(() => page.locator(".cm-marked").textContent()).toContain("Hello");
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("button", { name: "End the search" }).click();
    for (const [file, reason] of [
      ["logo.bin", "This file isn't text"],
      ["large.txt", "It is larger than 1 MB"],
      ["none.py", "There is no such file"],
    ] as const) {
      await page.goto(address(name, `?branch=main&file=${file}`));
      await page.getByText(reason).waitFor();
    }
    await page.goto(address(name, "?branch=none"));
    await page.getByRole("heading", { name: "The branch none can't be shown" }).waitFor();
    await page.getByText(/look has no branch none/).waitFor();

    // Without the editor's script the text can be read and changed.
    let isOffline = true;
    await page.route(/\/assets\/editor-.*\.js$/, (route) => (isOffline ? route.abort() : route.continue()));
    await page.goto(address(name, "?branch=main&file=server.py"));
    await text("server.py").click();
    await page.getByText("The editor couldn't be loaded").waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# plain");
    expect(await text("server.py").inputValue()).toMatch(/def greet[\s\S]*# plain$/);
    isOffline = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => page.locator(".cm-content").textContent()).toContain("# plain");
    await page.getByRole("button", { name: "Discard changes of this file" }).click();

    // On a phone the list is behind a button.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(address(name));
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page.getByRole("dialog", { name: "Files" }).getByRole("treeitem", { name: "README.md" }).click();
    await text("README.md").waitFor();
  },
);

test("CAP-5 several files are changed, made, renamed and deleted, kept over a reload, and become one commit in the person's name", async () => {
  const { name, id } = await code.deploy("edit");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(address(name));
  const commit = page.getByRole("button", { name: /^Commit/ });
  expect(await commit.isDisabled()).toBe(true);
  await text("server.py").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# more\n");
  await page.getByRole("treeitem", { name: "server.py, changed" }).waitFor();
  await page.getByRole("treeitem", { name: "weather.py" }).click();
  await text("lib/weather.py").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("import os");
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: "pyproject.toml" }).click();
  await page.getByRole("button", { name: "Delete this file" }).click();
  await page.getByText("You delete this file").waitFor();
  await page.getByRole("treeitem", { name: "README.md" }).click();
  await text("README.md").waitFor();
  await page.getByRole("button", { name: "Rename this file" }).click();
  await page.getByRole("textbox", { name: "Path" }).fill("lib");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await page.getByText("lib is a directory").waitFor();
  await page.getByRole("textbox", { name: "Path" }).fill("docs/README.md");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await text("docs/README.md").waitFor();
  await page.getByRole("button", { name: "New file" }).click();
  await page.getByRole("textbox", { name: "Path" }).fill("lib/new.py");
  await page.getByRole("button", { name: "Create file" }).click();
  await text("lib/new.py").click();
  await page.keyboard.type("new = 1");
  // Tab indents, and is no trap.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
    .toBe("Copy link to this line");
  await page.getByRole("treeitem", { name: "new.py, new" }).waitFor();

  // Leaving asks; a reload keeps.
  await page.getByRole("link", { name: "Deployments" }).first().click();
  await page
    .getByRole("dialog", { name: "Leave without saving?" })
    .getByRole("button", { name: "Keep editing" })
    .click();
  page.once("dialog", (asked) => void asked.accept());
  await page.reload();
  await page.getByRole("button", { name: "Commit 6 files" }).click();
  await expect.poll(() => dialog().getByLabel("Message").inputValue()).toBe("Update 6 files");
  await dialog().getByText("Goes live when its build succeeds.").waitFor();
  expect(await dialog().getByRole("listitem").count()).toBe(6);
  await dialog().getByText("# more").waitFor();
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await dialog().getByLabel("Message").fill(" ");
  await dialog().getByRole("button", { name: "Commit and deploy" }).click();
  await dialog().getByText("Say what the commit changes").waitFor();
  await dialog().getByLabel("Message").fill("Tell more");
  await dialog().getByRole("button", { name: "Commit and deploy" }).click();
  await page.getByText(/^Committed \w{7} to main$/).waitFor();
  await page.getByText("The build is about to start.").waitFor();
  const [person] = await site.db.select({ name: user.name }).from(user).where(eq(user.id, owner.userId));
  expect((await code.log("edit", "main"))[0]).toBe(`${person?.name}: Tell more`);
  expect(await code.fileOf("server.py")).toBe(`${server}# more`.trim());
  // Its lines end as before.
  expect(await code.fileOf("lib/weather.py")).toBe("import os\r\ndef rain():\r\n    return 1");
  expect((await code.git("ls-tree", "-r", "--name-only", "FETCH_HEAD")).split("\n")).toEqual([
    "docs/README.md",
    "large.txt",
    "lib/deep/wind.py",
    "lib/new.py",
    "lib/weather.py",
    "logo.bin",
    "server.py",
  ]);
  await page.getByText(/^Committed/).waitFor();
  expect(await commit.isDisabled()).toBe(true);

  // What a worker does with the commit.
  const [main] = await site.db
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, id), eq(branch.name, "main")));
  const commitSha = await code.git("rev-parse", "FETCH_HEAD");
  const [first] = await site.db.select().from(build).where(eq(build.projectId, id));
  if (!main || !first) throw new Error("The repository wasn't deployed.");
  const buildId = newId();
  await site.db.insert(build).values({ ...first, id: buildId, sequence: 9, status: "queued", commitSha });
  await page.getByRole("link", { name: "Open the build" }).click();
  await page.waitForURL(new RegExp(`/build-logs/${buildId}$`));
});

test.runIf(isThorough)(
  "CAP-5 a commit meanwhile stays: of another file below, of the same one as a conflict with both texts, to decide or to branch off",
  async () => {
    const { name } = await code.deploy("both");
    await page.setViewportSize({ width: 1280, height: 800 });
    const add = async (path: string, typed: string) => {
      await text(path).click();
      await page.keyboard.press("Control+Home");
      await page.keyboard.type(typed);
    };
    const send = async () => {
      await page.getByRole("button", { name: /^Commit \d/ }).click();
      await dialog()
        .getByRole("button", { name: /^Commit (and deploy|to the new branch)$/ })
        .click();
    };
    await page.goto(address(name));
    await add("server.py", "# mine\n");
    await code.pushElsewhere("both", { "README.md": "# Elsewhere\n" });
    await send();
    await page.getByText(/^Committed \w{7} to main$/).waitFor();
    expect((await code.log("both", "main")).slice(0, 2)).toEqual([
      expect.stringContaining(": Update server.py"),
      "Ada Lock: Change it elsewhere",
    ]);

    await expect.poll(() => text("server.py").textContent()).toContain("# mine");
    await add("server.py", "# again\n");
    await code.pushElsewhere("both", { "server.py": `# theirs\n${server}` });
    await send();
    await dialog()
      .getByText(/server\.py changed in main meanwhile, in commits up to/)
      .waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("treeitem", { name: "server.py, in conflict" }).waitFor();
    await page.getByText(/The newest commit is “Change it elsewhere” by Ada Lock/).waitFor();
    await expect.poll(() => page.locator(".cm-deletedChunk").first().textContent()).toContain("# theirs");
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    // The text outlives a reload here, too.
    page.once("dialog", (asked) => void asked.accept());
    await page.reload();
    await page.getByRole("button", { name: "Commit to a new branch" }).click();
    await dialog().getByRole("textbox", { name: "Name of the new branch" }).fill("dev");
    await dialog().getByRole("button", { name: "Commit to the new branch" }).click();
    await dialog().getByText("Nothing was committed").waitFor();
    await dialog().getByRole("textbox", { name: "Name of the new branch" }).fill("mine");
    await dialog().getByRole("button", { name: "Commit to the new branch" }).click();
    await page.getByText(/^Committed \w{7} to mine$/).waitFor();
    expect(new URL(page.url()).searchParams.get("branch")).toBe("mine");
    await code.log("both", "mine");
    expect(await code.fileOf("server.py")).toMatch(/^# again\n# mine\n/);
    await code.log("both", "main");
    expect(await code.fileOf("server.py")).toMatch(/^# theirs\n/);

    // The newest version replaces mine; or mine goes on top of it.
    for (const [choice, expected] of [
      ["Open the newest version", false],
      ["Keep mine on top", true],
    ] as const) {
      await page.goto(address(name, "?branch=main&file=server.py"));
      await add("server.py", `# ${choice}\n`);
      await code.pushElsewhere("both", { "server.py": `# theirs, ${choice}\n${server}` });
      await send();
      await dialog().getByText("Nothing was committed").waitFor();
      await dialog().getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: choice }).click();
      if (expected) {
        await send();
        await page.getByText(/^Committed \w{7} to main$/).waitFor();
      } else await expect.poll(() => text("server.py").textContent()).toContain(`# theirs, ${choice}`);
      await code.log("both", "main");
      expect((await code.fileOf("server.py")).startsWith(`# ${choice}\n`)).toBe(expected);
    }

    // The branch goes while its files are changed.
    await page.goto(address(name, "?branch=dev&file=README.md"));
    await add("README.md", "Mine ");
    await code.git("push", "--quiet", code.cloneUrl("both"), ":dev");
    await send();
    await dialog()
      .getByText(/The branch dev of both was deleted meanwhile/)
      .waitFor();
    await dialog().getByRole("textbox", { name: "Name of the new branch" }).fill("dev-again");
    await dialog().getByRole("button", { name: "Commit to the new branch" }).click();
    await page.getByText(/^Committed \w{7} to dev-again$/).waitFor();
    await code.log("both", "dev-again");
    expect(await code.fileOf("README.md")).toBe("Mine # Weather");
  },
);

test.runIf(isThorough)(
  "CAP-5 ERR-1 who may not start builds sees no link to the code and is refused its page",
  async () => {
    const { name } = await code.deploy("closed");
    const viewer = await seededMember(site.url, site.db);
    const { id: organizationId } = owner.organization;
    await site.db.update(member).set({ organizationId, role: "viewer" }).where(eq(member.userId, viewer.userId));
    const theirs = await browser.signedInPage(site.url, viewer);
    await theirs.goto(`${site.url}/${owner.organization.slug}/${name}/deployments`);
    await theirs.getByRole("link", { name: "Deployments" }).first().waitFor();
    expect(await theirs.getByRole("link", { name: "Code", exact: true }).count()).toBe(0);
    const answer = await theirs.goto(address(name));
    expect(answer?.status()).toBe(403);
    await theirs.getByRole("heading", { name: "Access Denied" }).waitFor();
  },
);
