import { expect, test } from "vitest";
import { earlyInputScript } from "../src/ui/early-input.ts";
import { newPage, openBrowser } from "./browser.ts";

// What real pages do is in shell.browser.test.ts. Here the moments are chosen, which on a page are milliseconds apart.

const browser = openBrowser();

test("ONB-1 a press that React stops is repeated, even if it owns the button before anything else can run", async () => {
  const page = await newPage(await browser.newContext());
  await page.setContent(`<script>${earlyInputScript}</script><button type="button">Allow</button><p>0</p>`);
  await page.evaluate(() => {
    const button = document.querySelector("button") as HTMLButtonElement;
    const count = document.querySelector("p") as HTMLElement;
    button.addEventListener("click", () => {
      count.textContent = String(Number(count.textContent) + 1);
    });
    // As React does where it hydrates: it marks what it owns, and stops what comes too early.
    const own = () => Object.assign(button, { __reactProps$1: {}, __reactFiber$1: { flags: 0, alternate: {} } });
    Object.assign(document, { _reactListening1: true });
    const stop = (event: Event) => {
      event.stopPropagation();
      document.removeEventListener("click", stop, true);
      queueMicrotask(own);
    };
    document.addEventListener("click", stop, true);
  });
  await page.getByRole("button", { name: "Allow" }).click();
  await expect.poll(() => page.locator("p").textContent()).toBe("1");
});

test("ONB-1 a press outlives its button: it goes to the one that replaces it, even after a pause", async () => {
  const page = await newPage(await browser.newContext());
  await page.setContent(
    `<script>${earlyInputScript}</script><main><button type="button">Allow</button></main><p>0</p>`,
  );
  await page.getByRole("button", { name: "Allow" }).click();
  await page.evaluate(async () => {
    const main = document.querySelector("main") as HTMLElement;
    main.textContent = "Loading";
    // Long enough for the script to look several times.
    await new Promise((done) => setTimeout(done, 400));
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Allow" });
    Object.assign(button, { __reactProps$1: {}, __reactFiber$1: { flags: 0, alternate: {} } });
    const count = document.querySelector("p") as HTMLElement;
    button.addEventListener("click", () => {
      count.textContent = String(Number(count.textContent) + 1);
    });
    main.replaceChildren(button);
  });
  await expect.poll(() => page.locator("p").textContent()).toBe("1");
});
