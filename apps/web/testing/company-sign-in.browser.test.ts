import { startTokenIssuer, type TokenIssuer } from "@towpath/auth/workloads/testing";
import { signInIssuer } from "@towpath/db/schema";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;
let issuer: TokenIssuer;

beforeAll(async () => {
  issuer = await startTokenIssuer({ algorithm: "ES256" });
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => issuer.close());

test.runIf(isThorough)(
  "CAP-3 an owner adds the company's identity provider, sees why one is refused, and removes it, also at 360 px",
  async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${site.url}/${owner.organization.slug}/settings/api-keys`);
    const section = page.getByRole("region", { name: "Company sign-in" });
    await section.getByText("No identity provider").waitFor();
    await section.getByRole("button", { name: "Add identity provider" }).click();
    const dialog = page.getByRole("dialog");
    const add = () => dialog.getByRole("button", { name: "Add", exact: true }).click();
    await add();
    await dialog.getByText("Name is required").waitFor();
    await dialog.getByLabel("Name").fill("Okta");
    await dialog.getByLabel("Issuer").fill("http://idp.example");
    await add();
    await dialog.getByText("The issuer must be an https URL").waitFor();
    issuer.state.calledItself = "https://another.example";
    await dialog.getByLabel("Issuer").fill(issuer.url);
    await add();
    await dialog.getByText("The issuer calls itself https://another.example").waitFor();
    await expectAccessible(page);
    issuer.state.calledItself = null;
    await dialog.getByRole("checkbox").click();
    await add();
    await dialog.waitFor({ state: "hidden" });
    const row = section.getByRole("row").filter({ hasText: "Okta" });
    await expect.poll(() => row.textContent()).toMatch(/Account, or verified email.*Active/);
    await site.db.update(signInIssuer).set({ problem: "Could not connect to idp.example." });
    await page.reload();
    await row.getByText("Could not connect to idp.example.").waitFor();
    await row.getByText("Keys unreadable").waitFor();
    await expectAccessible(page);
    await row.getByRole("button", { name: "Remove Okta" }).click();
    await dialog.getByText("the tokens that it gave are refused").waitFor();
    await dialog.getByRole("button", { name: "Remove" }).press("Enter");
    await section.getByText("No identity provider").waitFor();
  },
);
