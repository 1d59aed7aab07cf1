import { build, project } from "@towpath/db/schema";
import { desc, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openPackageIndex } from "./package-index.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const index = openPackageIndex({ "shop-mcp": ["2.0.0b1", "1.10.0", "1.9.0"] });
const site = openSite(() => ({ UV_DEFAULT_INDEX: index.url() }));
const browser = openBrowser();
let page: Page;
let owner: Member;
beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

test.runIf(isThorough)(
  "BLD-17 a package is deployed by its name, with its newest versions to choose from, arguments and variables",
  async () => {
    const orgUrl = `${site.url}/${owner.organization.slug}`;
    await page.goto(`${orgUrl}/servers`);
    await page.getByRole("link", { name: "Package", exact: true }).click();
    await page.getByRole("heading", { name: "Deploy a package" }).waitFor();
    // The same from where everything new starts.
    await page.goto(`${orgUrl}/welcome/server-setup`);
    await page.getByRole("link", { name: /^Deploy a package/ }).click();
    await page.getByRole("heading", { name: "Deploy a package" }).waitFor();
    const name = page.getByRole("textbox", { name: "Package" });
    await name.fill("nothing-mcp");
    await page.getByText(/There is no package nothing-mcp on 127\.0\.0\.1:\d+\. Check its name\./).waitFor();
    await expectAccessibleInBothThemes(page);
    await name.fill("Shop_MCP");
    await page.getByText("The newest version is 1.10.0.").waitFor();
    await page.getByRole("button", { name: "1.9.0" }).click();
    await page.getByRole("textbox", { name: "Arguments" }).fill('--shelf "a b"');
    await page.getByLabel("Name of variable 1").fill("SHOP_KEY");
    await page.getByRole("textbox", { name: "Value of SHOP_KEY" }).fill("opensesame");
    await page.getByLabel("Server name").fill("shop-server");
    await page.getByText("This name is available.").waitFor();
    await expectAccessibleInBothThemes(page);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/shop-server\/build-logs\//);
    await page.getByText("shop-mcp 1.9.0").first().waitFor();
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("1.9.0", { exact: true }).waitFor();
    const [stored] = await site.db.select().from(project).where(eq(project.name, "shop-server"));
    expect(stored).toMatchObject({
      packageName: "shop-mcp",
      followsPackage: false,
      arguments: ["--shelf", "a b"],
      repositoryId: null,
      authMode: "towpath-cloud",
    });

    await page.goto(`${orgUrl}/servers`);
    await page
      .getByRole("row", { name: /shop-server/ })
      .getByText("Package shop-mcp")
      .waitFor();
    await page.goto(`${orgUrl}/shop-server/settings`);
    const card = page.locator("#package");
    await card.getByText("The newest version is 1.10.0.").waitFor();
    await card.getByRole("switch", { name: "Deploy new versions" }).click();
    await card.getByText("New versions are deployed.").waitFor({ state: "attached" });
    await page.getByLabel("Root directory").waitFor({ state: "detached" });
    await expectAccessibleInBothThemes(page);
    await card.getByRole("button", { name: "Deploy newest version" }).click();
    await page.waitForURL(/\/shop-server\/build-logs\//);
    await page.goto(`${orgUrl}/shop-server/deployments`);
    // A package has versions; its commits and its branch are Towpath's own.
    await page.getByRole("columnheader", { name: "Version" }).waitFor();
    await expect.poll(() => page.getByText("releases", { exact: true }).count()).toBe(0);
    const builds = site.db
      .select()
      .from(build)
      .where(eq(build.projectId, stored?.id ?? ""))
      .orderBy(desc(build.sequence));
    expect((await builds).map(({ packageVersion }) => packageVersion)).toEqual(["1.10.0", "1.9.0"]);
  },
);

test.runIf(isThorough)(
  "BLD-17 OPS-4 over REST, as the terminal does: a server is made, is left alone if nothing changed, and keeps to its package",
  async () => {
    const deploy = async (body: object) => {
      const response = await fetch(`${site.url}/api/v1/packages`, {
        method: "POST",
        headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
        body: JSON.stringify({ organization: owner.organization.slug, name: "till-server", ...body }),
      });
      return { status: response.status, answer: await response.json() };
    };
    const first = await deploy({ packageName: "shop_mcp", version: "1.9.0", authMode: "towpath-public" });
    expect(first).toMatchObject({ status: 200, answer: { created: true, build: { packageVersion: "1.9.0" } } });
    const again = await deploy({ packageName: "shop-mcp", version: "1.9.0" });
    expect(again.answer).toMatchObject({ created: false, build: { id: first.answer.build.id } });
    const newer = await deploy({ packageName: "shop-mcp", follow: true });
    expect(newer.answer).toMatchObject({
      created: true,
      build: { packageVersion: "1.10.0" },
      project: { authMode: "towpath-public", package: { name: "shop-mcp", follows: true } },
    });
    const other = await deploy({ packageName: "other-mcp" });
    expect(other).toMatchObject({ status: 409, answer: { error: { code: "conflict" } } });
    expect(other.answer.error.message).toBe("till-server deploys from the package shop-mcp. Choose another name.");
    const unknown = await deploy({ packageName: "nothing-mcp", name: "other-server" });
    expect(unknown).toMatchObject({ status: 422, answer: { error: { fields: { packageName: expect.any(String) } } } });
  },
);
