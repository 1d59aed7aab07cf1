import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { isThorough } from "../thorough.ts";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/**
 * Asserts that axe finds no WCAG 2.2 A or AA violation, and that nothing is wider than a small phone. Only
 * `./towpath test thorough` does: the tests of pages look at the same pages in every run.
 */
export async function expectAccessible(page: Page): Promise<void> {
  if (!isThorough) return;
  // Wait for transitions to end: intermediate colors don't count.
  await page.evaluate("new Promise(requestAnimationFrame)");
  await page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))");
  // Half a megabyte of script: it is loaded once for all looks at a page.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (values) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      return axe.run({ resultTypes: ["violations"], runOnly: { type: "tag", values } });
    },
    [...tags],
  );
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map((node) => node.html)
        .join(" ")
        .slice(0, 300)}`,
  );
  expect(found, page.url()).toEqual([]);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 780 });
  // Charts adapt to the new width a moment later.
  const width = () => page.evaluate<number>("document.documentElement.scrollWidth");
  await expect.poll(width, { message: `${page.url()} at 360 px`, timeout: 5_000 }).toBeLessThanOrEqual(360);
  if (size) await page.setViewportSize(size);
}
