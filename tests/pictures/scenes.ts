import type { Page } from "playwright-core";
import { portal, weather } from "./fill-instance.ts";

/** Brings the page into a picture's state. `home`: the organization's address. */
type Scene = (page: Page, home: string) => Promise<unknown>;

/** By the name of the picture. */
export const scenes: Readonly<Record<string, Scene>> = {
  overview: async (page, home) => {
    await page.goto(`${home}/${weather}`);
    await page.getByText("Top tools").first().waitFor();
  },
  build: async (page, home) => {
    await page.goto(`${home}/${weather}/deployments`);
    await page.getByRole("heading", { name: "Builds" }).waitFor();
    await page.locator("main a[href*=build-logs]").last().click();
    await page.waitForURL(/build-logs/);
    await page.getByText("Roll out").first().waitFor();
  },
  clients: async (page, home) => {
    await page.goto(`${home}/${weather}/clients`);
    await page.getByText("Claude Code").first().waitFor();
  },
  inspector: async (page, home) => {
    await page.setViewportSize({ width: 1080, height: 820 });
    // A link with arguments fills in the form once the page's script runs.
    const args = Buffer.from(JSON.stringify({ city: "Bruges", days: 3 })).toString("base64url");
    await page.goto(`${home}/${weather}/inspector?tool=forecast#args=${args}`);
    while ((await page.getByLabel(/^city/).inputValue()) !== "Bruges") await page.waitForTimeout(100);
    await page.getByRole("button", { name: "Call tool" }).click();
    await page.getByText(/ms for the call/).waitFor();
    await page.evaluate("scrollTo(0, 0)");
  },
  logs: async (page, home) => {
    await page.goto(`${home}/${weather}/logs?status=error`);
    await page.setViewportSize({ width: 1080, height: 680 });
    await page.locator("button[data-row]").first().click();
    await page.getByText("Protocol version").waitFor();
    await page.evaluate("scrollTo(0, 0)");
  },
  previews: async (page, home) => {
    await page.goto(`${home}/${weather}/deployments`);
    await page
      .getByRole("button", { name: /Promote/ })
      .first()
      .waitFor({ timeout: 90_000 });
  },
  portal: async (page, home) => {
    await page.goto(`${home}/${portal}/servers`);
    await page.getByRole("checkbox", { name: /^stations/ }).waitFor();
  },
};
