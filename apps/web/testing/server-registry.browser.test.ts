import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const run = promisify(execFile);
const shop = {
  name: "io.github.acme/shop",
  title: "Acme shop",
  description: "Orders and stock of the shop",
  version: "1.9.0",
  packages: [
    {
      registryType: "pypi",
      identifier: "shop-mcp",
      version: "1.9.0",
      packageArguments: [{ type: "named", name: "--shelf", value: "a b" }],
      environmentVariables: [{ name: "SHOP_KEY", isRequired: true }],
    },
  ],
  remotes: [{ type: "streamable-http", url: "https://shop.invalid/mcp" }],
};
const till = { name: "io.github.acme/till", packages: [{ registryType: "npm", identifier: "till" }] };

/** A registry on this machine that answers like the official one. */
let isDown = false;
const registry = createServer((request, response) => {
  const search = new URL(request.url ?? "", "http://registry").searchParams.get("search") ?? "";
  const servers = [shop, till].filter(({ name }) => name.includes(search)).map((server) => ({ server }));
  response.writeHead(isDown ? 503 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify({ servers, metadata: { count: servers.length } }));
});
beforeAll(() => new Promise<void>((listening) => registry.listen(0, "127.0.0.1", listening)));
afterAll(() => new Promise((closed) => registry.close(closed)));
const site = openSite(() => ({
  TOWPATH_REGISTRY_URL: `http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
}));
const browser = openBrowser();
let page: Page;
let owner: Member;
beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

const address = (search = "") => `${site.url}/${owner.organization.slug}/servers/registry${search}`;
const entry = (name: string) => page.getByRole("article", { name });

test.runIf(isThorough)("BLD-17 a server is found in the registry, and its package's form is filled in", async () => {
  // Also for whoever has no GitHub account to connect.
  await page.goto(`${site.url}/${owner.organization.slug}/welcome/connect-github?success=false`);
  await page.getByRole("link", { name: /^Deploy a package/ }).click();
  await page.getByRole("link", { name: "Find a server in a registry" }).click();
  await page.getByRole("searchbox").fill("acme");
  await entry("io.github.acme/shop").getByText("Orders and stock of the shop").waitFor();
  await entry("io.github.acme/till").getByText("It comes as npm. Towpath runs Python packages").waitFor();
  expect(new URL(page.url()).search).toBe("?search=acme");
  await expectAccessibleInBothThemes(page);
  await page.getByRole("searchbox").fill("acme/none");
  await page.getByText("No server's name contains “acme/none”").waitFor();
  await expectAccessibleInBothThemes(page);
  await page.goto(address("?search=shop"));
  await entry("io.github.acme/shop").getByRole("link", { name: "Deploy shop-mcp" }).click();
  await page.getByRole("heading", { name: "Deploy a package" }).waitFor();
  const field = (name: string) => page.getByRole("textbox", { name }).inputValue();
  expect([await field("Package"), await field("Version"), await field("Arguments")]).toEqual([
    "shop-mcp",
    "1.9.0",
    "--shelf 'a b'",
  ]);
  expect(await page.getByLabel("Name of variable 1").inputValue()).toBe("SHOP_KEY");
});

test("BLD-17 ORG-9 a server that runs elsewhere is added by the address of its entry", async () => {
  await page.goto(address("?search=shop"));
  await entry("io.github.acme/shop").getByRole("link", { name: "Add shop.invalid" }).click();
  await page.getByRole("heading", { name: "Add an external server" }).waitFor();
  expect(await page.getByRole("textbox", { name: "URL" }).inputValue()).toBe("https://shop.invalid/mcp");
});

test("BLD-17 a server.json is pasted: its errors, then its offers", async () => {
  await page.goto(address());
  const field = page.getByLabel("Text of the file");
  await field.fill("{");
  await page.getByText("This is not JSON. Paste the whole file").waitFor();
  await field.fill('{ "name": "x", "packages": [{}] }');
  await page.getByText(/^packages\.0\.registryType: /).waitFor();
  await expectAccessibleInBothThemes(page);
  await field.fill(JSON.stringify(shop));
  await entry("io.github.acme/shop").getByRole("link", { name: "Deploy shop-mcp" }).waitFor();
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)(
  "BLD-17 OPS-4 the terminal deploys a registry's entry by its name, or by a part that only it has",
  async () => {
    const { key } = await createApiKey({
      ctx: testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null }),
      input: { orgSlug: owner.organization.slug, kind: "organization", name: "terminal", scope: "manage" },
    });
    const deploy = async (source: string) => {
      const script = join(import.meta.dirname, "../../cli/src/main.ts");
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, TOWPATH_URL: site.url, TOWPATH_API_KEY: key, NO_COLOR: "1" };
      const child = run(process.execPath, [script, "deploy", source, "--name", "shop-one-two"], { env });
      return child
        .then(({ stdout }) => stdout)
        .catch((error: { stderr: string; stdout: string }) => error.stdout + error.stderr);
    };
    expect(await deploy("registry:acme")).toMatch(
      /several servers whose names contain acme.*\n {2}registry:io\.github\.acme\/shop\n {2}registry:io\.github\.acme\/till\n/,
    );
    expect(await deploy("registry:acme/none")).toContain("has no server whose name contains acme/none.");
    expect(await deploy("registry:till")).toContain(
      "io.github.acme/till names no Python package of the package index, only: npm.",
    );
    // The real index is asked for the entry's version, which it lacks.
    const ofShop = await deploy("registry:io.github.acme/shop");
    expect(ofShop).toContain("It requires SHOP_KEY");
    expect(ofShop).toMatch(/There is no package shop-mcp on|shop-mcp has no version 1\.9\.0/);
  },
);

test.runIf(isThorough)("BLD-17 a registry that can't be reached says so, and is asked again", async () => {
  isDown = true;
  await page.goto(address("?search=till"));
  await page.getByText("The registry can't be searched").waitFor();
  await page.getByText(/answered with status 503/).waitFor();
  await expectAccessibleInBothThemes(page);
  isDown = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await entry("io.github.acme/till").waitFor();
});
