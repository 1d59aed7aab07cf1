import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { isThorough } from "../thorough.ts";
import { createOrganization, newVisitor, signUp } from "./browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const timeout = 10 * 60_000;
const missing = "towpath-no-such-package-q7";

test.runIf(isThorough)(
  "CAP-5 BLD-2 a change that breaks the build is committed in the browser, and from the failed build three clicks lead to live",
  async () => {
    const { page, complaints } = await newVisitor(browser);
    await signUp(page, inject("url"));
    const slug = await createOrganization(page, "Fixed Builds");
    await page.getByRole("button", { name: "Deploy the sample" }).click();
    await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout });
    const server = new URL(page.url()).pathname.split("/")[2] ?? "";
    const dialog = page.getByRole("dialog", { name: "Commit your changes" });
    const notice = page.getByRole("status").filter({ hasText: /^Committed \w{7} to main/ });

    await page.goto(`${inject("url")}/${slug}/${server}/code?branch=main&file=requirements.txt`);
    await page.getByRole("textbox", { name: "Text of requirements.txt" }).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(`\n${missing}\n`);
    await page.getByRole("button", { name: "Commit 1 file" }).click();
    await dialog.getByRole("button", { name: "Commit and deploy" }).click();
    await notice.getByRole("link", { name: "Open the build" }).click({ timeout });
    await page.getByRole("heading", { name: `There is no package named ${missing}` }).waitFor({ timeout });

    await page.getByRole("link", { name: `Remove ${missing} from requirements.txt` }).click();
    await dialog.getByRole("button", { name: "Commit and deploy" }).click();
    await notice.getByText("Live", { exact: true }).waitFor({ timeout });
    await notice.getByRole("link", { name: "Open the build" }).click();
    await page.getByRole("heading", { level: 1, name: `Remove ${missing} from requirements.txt` }).waitFor();
    expect(complaints).toEqual([]);
  },
  3 * timeout,
);
