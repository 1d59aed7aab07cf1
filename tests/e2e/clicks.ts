import type { BrowserContext } from "playwright-core";

/** Counts what a person does by hand on all pages of a context: presses of the pointer, and of Enter. */
export async function countClicks(context: BrowserContext): Promise<{ readonly count: () => number }> {
  let made = 0;
  await context.exposeBinding("towpathClicked", () => {
    made += 1;
  });
  await context.addInitScript(`
    const report = (event) => event.isTrusted && towpathClicked();
    addEventListener("pointerdown", report, true);
    addEventListener("keydown", (event) => event.key === "Enter" && report(event), true);
  `);
  return { count: () => made };
}
