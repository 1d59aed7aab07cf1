import type { Page } from "playwright-core";
import { expect } from "vitest";

/** State of `record` in the page. */
type Recorded = {
  readonly visited: Set<Element>;
  readonly problems: string[];
  isRound: boolean;
  name(element: Element): string;
};
declare global {
  interface Window {
    tabWalk?: Recorded;
  }
}

/**
 * Presses Tab through the whole page. Returns the problems with their elements: unreachable actions, focus that is
 * invisible or outside the screen, and traps that Tab doesn't leave (WCAG 2.1.1, 2.1.2, 2.4.7).
 */
export async function keyboardProblems(page: Page): Promise<string[]> {
  await page.evaluate(record);
  const stops = await page.locator("a, button, input, select, textarea, summary, [tabindex]").count();
  // A field for a date has several stops.
  for (let pressed = 0; pressed < stops + 40; pressed += 10) {
    for (let each = 0; each < 10; each++) await page.keyboard.press("Tab");
    if (await page.evaluate(() => window.tabWalk?.isRound)) break;
  }
  return await page.evaluate(found);
}

/** Runs in the page: keeps the elements that get the focus. */
function record(): void {
  const name = (element: Element) => {
    const label = element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
    return `${element.tagName.toLowerCase()} "${label.slice(0, 40)}" ${element.id}`.trim();
  };
  const isOutlined = (element: Element) =>
    [undefined, "::after"].some((pseudo) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element, pseudo);
      return outlineStyle !== "none" && outlineWidth !== "0px";
    });
  const walk: Recorded = { visited: new Set(), problems: [], isRound: false, name };
  const isFirst = window.tabWalk === undefined;
  window.tabWalk = walk;
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  if (!isFirst) return;
  document.addEventListener("focusin", ({ target }) => {
    const walk = window.tabWalk;
    if (!walk || !(target instanceof HTMLElement)) return;
    // All visited: the browser's own bar would be next.
    if (walk.visited.has(target)) {
      walk.isRound ||= target === walk.visited.values().next().value;
      return;
    }
    walk.visited.add(target);
    const around = [target, target.parentElement, target.parentElement?.parentElement];
    if (!around.some((element) => element && isOutlined(element)))
      walk.problems.push(`focus can't be seen: ${name(target)}`);
    const { top, bottom, left, right, width } = target.getBoundingClientRect();
    const isOnScreen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    if (width > 1 && !isOnScreen) walk.problems.push(`focus is outside the screen: ${name(target)}`);
  });
}

/** Runs in the page: the problems found. */
function found(): string[] {
  const walk = window.tabWalk;
  if (!walk) return ["Nothing was recorded."];
  const { visited, problems, isRound, name } = walk;
  if (!isRound) problems.push(`Tab never comes around; it is at ${name(document.activeElement ?? document.body)}`);
  const actions =
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], [role=switch], [role=checkbox]";
  // Within these, arrow keys move on from the focused element.
  const groups =
    "[role=tablist], [role=radiogroup], [role=listbox], [role=menu], [role=grid], [role=tree], [role=toolbar]";
  const isVisited = (element: Element | null) =>
    element !== null && [...visited].some((each) => element.contains(each));
  for (const element of document.querySelectorAll<HTMLElement>(actions)) {
    const isGone =
      !element.checkVisibility({ visibilityProperty: true }) || element.closest("[inert], [aria-hidden=true]") !== null;
    if (isGone || element.matches(":disabled, [aria-disabled=true], [data-disabled]") || visited.has(element)) continue;
    if (isVisited(element.closest(groups))) continue;
    const isRadio = element instanceof HTMLInputElement && element.type === "radio";
    if (isRadio && [...visited].some((each) => each instanceof HTMLInputElement && each.name === element.name))
      continue;
    problems.push(`Tab doesn't reach: ${name(element)}`);
  }
  // Elements with React's click listeners that are not controls, contain none and are in none.
  for (const element of document.querySelectorAll<HTMLElement>("div, span, li, tr, td, p, svg, img")) {
    const key = Object.keys(element).find((each) => each.startsWith("__reactProps"));
    const props = key ? (element as unknown as Record<string, { onClick?: unknown }>)[key] : undefined;
    if (typeof props?.onClick !== "function" || !element.checkVisibility()) continue;
    if (visited.has(element) || isVisited(element) || element.closest(`${actions}, label, ${groups}`)) continue;
    problems.push(`only the mouse reaches: ${name(element)}`);
  }
  return problems;
}

/**
 * Opens the page's popups (menus, lists, dialogs) with Enter, each kind once for all pages (`tried`). Returns the
 * problems: popups that don't open, don't take the focus, or that Escape doesn't close with the focus back on their
 * button.
 */
export async function popupProblems(page: Page, tried: Set<string>): Promise<string[]> {
  const problems: string[] = [];
  // Details of a row open beside the list, without taking the focus.
  const triggers = page.locator("button[aria-haspopup]:not([data-row]):visible, button[role=combobox]:visible");
  for (const trigger of await triggers.all()) {
    const label = await trigger.evaluate((element) => window.tabWalk?.name(element) ?? "");
    if (tried.has(label) || (await trigger.isDisabled())) continue;
    tried.add(label);
    const state = () =>
      trigger.evaluate((element) => [
        // Dialogs don't set aria-expanded.
        (element.getAttribute("aria-expanded") ?? `${document.querySelector("[role=dialog]") !== null}`) === "true",
        document.activeElement === element && !element.getAttribute("aria-activedescendant"),
      ]);
    const becomes = (what: string, expected: readonly boolean[]) =>
      expect
        .poll(state)
        .toEqual(expected)
        .catch(() => problems.push(`${what}: ${label}`));
    await trigger.focus();
    await page.keyboard.press("Enter");
    await becomes("Enter doesn't open it, or the focus stays", [true, false]);
    await page.keyboard.press("Escape");
    await becomes("Escape doesn't close it, or the focus doesn't return", [false, true]);
  }
  return problems;
}
