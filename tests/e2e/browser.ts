import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

export type Visitor = { readonly page: Page; readonly context: BrowserContext; readonly complaints: string[] };

/** A new browser context. The browser's warnings and errors are collected: a working page logs none. */
export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const goto = page.goto.bind(page);
  page.goto = async (...address) => {
    const response = await goto(...address);
    // Buttons that need the page's script wait for it. Where it fails, they do for good.
    const waiting = page.locator("[data-waiting]").first();
    await waiting.waitFor({ state: "detached", timeout: 10_000 }).catch(() => {});
    return response;
  };
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} (${page.url()})`);
  });
  return { page, context, complaints };
}

let people = 0;

/** Creates an account at the embedded provider, starting at `/signup`. */
export async function signUp(page: Page, url: string): Promise<string> {
  people += 1;
  const email = `ada-${process.pid}-${people}@example.com`;
  await page.goto(`${url}/signup`);
  await page.getByLabel("First name").fill("Ada");
  await page.getByLabel("Last name").fill("Byron");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Create account" }).click();
  return email;
}

/** Creates the organization; returns its slug. */
export async function createOrganization(page: Page, name: string): Promise<string> {
  await page.waitForURL(/\/welcome\/create-organization/);
  await page.getByLabel("Organization name").fill(name);
  await page.getByRole("button", { name: "Create organization" }).click();
  await page.waitForURL(/\/servers\/new/);
  return new URL(page.url()).pathname.split("/")[1] ?? "";
}

/** Connects the stand-in for GitHub: account, authorization, installation on all repositories. Ends on the success page. */
export async function connectGitHub(page: Page, account: string): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  await page.goto(`${origin}/${pathname.split("/")[1]}/welcome/connect-github?success=false`);
  await page
    .getByRole("link", { name: "Connect GitHub" })
    .or(page.getByRole("button", { name: "Connect GitHub" }))
    .click();
  await page.getByLabel("Account name").fill(account);
  await page.getByRole("button", { name: "Create account and continue" }).click();
  await page.getByRole("button", { name: "Authorize Towpath" }).click();
  await page.getByRole("button", { name: "Install", exact: true }).click();
  await page.waitForURL(/\/new\/github-install-success/);
}
