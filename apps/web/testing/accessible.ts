import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** UI-5: no violation of WCAG 2.2 AA that axe finds and no horizontal overflow, on a phone and on a desktop. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => [id, nodes[0]?.target]);
    expect([page.url(), width, found]).toEqual([page.url(), width, []]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect([page.url(), width, overflow]).toEqual([page.url(), width, 0]);
  }
}
