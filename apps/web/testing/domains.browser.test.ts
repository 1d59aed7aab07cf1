import { seedProject } from "@towpath/core/testing";
import { domain } from "@towpath/db/schema";
import { type DnsServer, startDnsServer } from "@towpath/egress/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

let dns: DnsServer;
const site = openSite(async () => {
  dns = await startDnsServer();
  return { TOWPATH_DNS_SERVERS: dns.address };
});
const browser = openBrowser();
let page: Page;
let owner: Member;
let own: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  own = await seedProject(site.db, owner.organization);
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => dns.close());

const stored = async () => (await site.db.select().from(domain).where(eq(domain.projectId, own.id)))[0] ?? null;
const card = () => page.getByRole("region", { name: "Domains" }).or(page.locator("#domains"));

test.runIf(isThorough)(
  "OPS-12 a domain is added by keyboard, its records are shown to copy, checked and seen, and it is removed",
  async () => {
    await page.goto(`${site.url}/${owner.organization.slug}/${own.name}/settings#domains`);
    const field = page.getByLabel("Domain", { exact: true });
    await field.fill("https://mcp.acme.com");
    await page.keyboard.press("Enter");
    await page.getByText("Enter a domain such as mcp.example.com").waitFor();
    await field.fill("mcp.acme.com");
    await page.keyboard.press("Enter");
    const records = page.getByRole("list", { name: "DNS records of mcp.acme.com" });
    await records.getByText("_towpath.mcp.acme.com").waitFor();
    const value = `towpath=${(await stored())?.token}`;
    await records.getByText(value).waitFor();
    await records.getByRole("button", { name: "Copy the value of the TXT record" }).waitFor();
    await card().getByText("Waiting for DNS").waitFor();
    await expectAccessibleInBothThemes(page);

    const check = page.getByRole("button", { name: "Check now: mcp.acme.com" });
    await check.click();
    await records.getByText("There is no such record yet.").first().waitFor();
    dns.records.set("_towpath.mcp.acme.com", [{ type: "TXT", value }]);
    dns.records.set("mcp.acme.com", [{ type: "A", value: "203.0.113.9" }]);
    await check.click();
    await card().getByText("Active", { exact: true }).waitFor();
    await records.getByText("The name leads to 203.0.113.9.").waitFor();
    await records.getByText(/^Seen /).waitFor();
    await expectAccessibleInBothThemes(page);

    await page.getByRole("button", { name: "Remove mcp.acme.com" }).click();
    await page.getByRole("button", { name: "Remove domain" }).click();
    await expect.poll(() => records.count()).toBe(0);
    await expect.poll(stored).toBeNull();
  },
);
