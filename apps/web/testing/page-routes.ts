import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Files that are no page: layouts, and sign-out, which only ends the session. */
const noPage = /(^|\/)(route|__root|_site|logout)\.tsx$/;

/**
 * Every page of the product as its pattern (`/$orgSlug/$projectName/logs`), from the files of routes, so that a new page
 * is among them. Optional parameters are left out.
 */
export async function pageRoutes(): Promise<string[]> {
  const files = await readdir(join(import.meta.dirname, "../src/routes"), { recursive: true });
  const pages = files.filter((file) => file.endsWith(".tsx") && !noPage.test(file));
  return pages.map(patternOf).toSorted();
}

function patternOf(file: string): string {
  const segments = file
    .replace(/\.tsx$/, "")
    .replaceAll(/\{-\$\w+\}/g, "")
    .split(/[/.]/)
    .filter((segment) => segment !== "" && segment !== "index" && !segment.startsWith("_"));
  return `/${segments.map((segment) => segment.replace(/_$/, "")).join("/")}`;
}
