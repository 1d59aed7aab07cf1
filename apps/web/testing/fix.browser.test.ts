import type { Diagnosis, RepositoryChange } from "@towpath/core/delivery/build/contract";
import { sampleDiagnosis } from "@towpath/core/testing";
import { build, project } from "@towpath/db/schema";
import { desc, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { type CodeRepositories, codeRepositories } from "./code-repositories.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
const content = {
  "server.py": "import httpx\n\nmcp = None\n",
  "app/requirements.txt": "# Tools\nfastmcp\n",
  "pyproject.toml": '[project]\nname = "x"\nrequires-python = "<3.10"\n',
  ".python-version": "3.9\n",
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

const dialog = () => page.getByRole("dialog", { name: "Commit your changes" });

type Server = { readonly name: string; readonly id: string };

/** Opens the page of the server's newest build, which failed like this. */
async function openFailedWith({ name, id }: Server, failure: Partial<Diagnosis>): Promise<{ buildId: string }> {
  const [row] = await site.db
    .select()
    .from(build)
    .where(eq(build.projectId, id))
    .orderBy(desc(build.createdAt))
    .limit(1);
  if (!row) throw new Error("The server has no build.");
  const diagnosis = { ...sampleDiagnosis, ...failure };
  const ended = { status: "failed", startedAt: new Date(), endedAt: new Date(), diagnosis };
  await site.db.update(build).set(ended).where(eq(build.id, row.id));
  await page.goto(`${site.url}/${owner.organization.slug}/${name}/build-logs/${row.id}`);
  return { buildId: row.id };
}

/** The same with this remedy. */
const openFailed = (server: Server, change?: RepositoryChange) =>
  openFailedWith(server, { action: { kind: "code", path: "server.py", ...(change && { change }) } });

test.runIf(isThorough)(
  "CAP-5 BLD-2 a failed build leads to the line, and a remedy is one button and one confirmation",
  async () => {
    const server = await code.deploy("fix");
    await page.setViewportSize({ width: 1280, height: 800 });
    const file = "app/requirements.txt";
    await openFailed(server);
    await page.getByRole("link", { name: "Open server.py line 1" }).click();
    await expect.poll(() => page.locator(".cm-marked").textContent()).toBe("import httpx");

    const changes: readonly (readonly [RepositoryChange, title: string, path: string, expected: string | null])[] = [
      [
        { kind: "require", file, requirements: ["httpx"], insteadOf: null },
        `Require httpx in ${file}`,
        file,
        "# Tools\nfastmcp\nhttpx",
      ],
      [{ kind: "drop", file, name: "httpx" }, `Remove httpx from ${file}`, file, "# Tools\nfastmcp"],
      [
        { kind: "python", file: ".python-version", version: "3.12" },
        "Pin Python 3.12",
        "pyproject.toml",
        '[project]\nname = "x"\nrequires-python = ">=3.12"',
      ],
    ];
    for (const [change, title, path, expected] of changes) {
      await openFailed(server, change);
      await expectAccessibleInBothThemes(page);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("link", { name: title }).click();
      await expect.poll(() => dialog().getByLabel("Message").inputValue()).toBe(title);
      await dialog().getByRole("button", { name: "Commit and deploy" }).click();
      await page.getByText(/^Committed \w{7} to main$/).waitFor();
      expect((await code.log("fix", "main"))[0]).toContain(`: ${title}`);
      expect(await code.fileOf(path)).toBe(expected);
    }
    expect(await code.fileOf(".python-version")).toBe("3.12");
  },
);

test.runIf(isThorough)(
  "CAP-5 a remedy that the branch has already, or whose file the person changes, says so and changes nothing",
  async () => {
    const server = await code.deploy("fixed");
    const file = "app/requirements.txt";
    await openFailed(server, { kind: "require", file, requirements: ["fastmcp"], insteadOf: null });
    await page.getByRole("link", { name: `Require fastmcp in ${file}` }).click();
    await page.getByText("There is nothing to change by itself").waitFor();
    await page.getByRole("textbox", { name: `Text of ${file}` }).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("idna");
    await page.getByRole("button", { name: "Commit 1 file" }).waitFor();
    page.on("dialog", (asked) => void asked.accept());
    await openFailed(server, { kind: "require", file, requirements: ["httpx"], insteadOf: null });
    await page.getByRole("link", { name: `Require httpx in ${file}` }).click();
    await page.getByText(`You changed ${file} already`).waitFor();
    expect(await dialog().count()).toBe(0);
  },
);

test("CAP-5 BLD-2 entrypoint and arguments that no build can know are set where it failed, checked, saved and built", async () => {
  const server = await code.deploy("program");
  await page.setViewportSize({ width: 1280, height: 800 });
  const { buildId } = await openFailedWith(server, {
    code: "arguments_missing",
    action: { kind: "settings", section: "build" },
  });
  const save = page.getByRole("button", { name: "Save and rebuild" });
  await page.getByRole("textbox", { name: "Arguments" }).fill('serve "no end');
  await save.click();
  const stored = async () => (await site.db.select().from(project).where(eq(project.id, server.id)))[0];
  await expect.poll(() => page.getByRole("textbox", { name: "Arguments" }).getAttribute("aria-invalid")).toBe("true");
  expect((await stored())?.arguments).toEqual([]);
  await page.getByRole("textbox", { name: "Arguments" }).fill('serve "two words"');
  await page.getByRole("textbox", { name: "Entrypoint" }).fill("server.py:mcp");
  await expectAccessibleInBothThemes(page);
  await save.click();
  await page.waitForURL((address) => address.pathname.includes("/build-logs/") && !address.pathname.endsWith(buildId));
  expect(await stored()).toMatchObject({ entrypoint: "server.py:mcp", arguments: ["serve", "two words"] });
  const builds = await site.db.select({ id: build.id }).from(build).where(eq(build.projectId, server.id));
  expect(builds).toHaveLength(2);
});
