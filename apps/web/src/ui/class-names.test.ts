import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { twMerge } from "tailwind-merge";
import { expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { classNames } from "./class-names.ts";

/** Every Tailwind class of the site's sources, without its conditions. */
async function classesInUse(): Promise<readonly string[]> {
  const source = join(import.meta.dirname, "..");
  const found = new Set<string>();
  for await (const path of glob("**/*.{ts,tsx}", { cwd: source, exclude: ["**/*.test.*"] })) {
    const text = await readFile(join(source, path), "utf8");
    for (const [, , quoted = ""] of text.matchAll(/(["`'])((?:(?!\1)[^\\\n])*)\1/g))
      for (const name of quoted.split(/\s+/)) if (/^-?[a-z][^"'<>=:]*$/.test(name)) found.add(name);
  }
  // tailwind-merge keeps duplicates of unknown classes.
  return [...found].filter((name) => twMerge(`${name} ${name}`) === name);
}

test.runIf(isThorough)("of any two classes of the site, the later one wins exactly as in tailwind-merge", async () => {
  const classes = await classesInUse();
  expect(classes.length).toBeGreaterThan(500);
  const different = classes.flatMap((first) =>
    classes.flatMap((second) => {
      if (first === second) return [];
      // It sets both axes, which tailwind-merge ignores.
      if (/^line-clamp-/.test(second) && /^overflow-[xy]-/.test(first)) return [];
      const [ours, theirs] = [classNames(first, second), twMerge(first, second)];
      return ours === theirs ? [] : [`${first} ${second}: "${ours}" instead of "${theirs}"`];
    }),
  );
  expect([different.length, different.slice(0, 10)]).toEqual([0, []]);
});

test("classes compete under the same condition only, and importance is a condition", () => {
  for (const text of ["p-2 sm:p-3", "hover:p-2 p-3", "p-2! p-3", "mine mine-too", "[&_svg]:size-4 size-5"])
    expect(classNames(text)).toBe(twMerge(text));
  for (const text of [
    "sm:px-2 sm:p-3",
    "hover:bg-hover hover:bg-surface",
    "[&_svg]:size-4 [&_svg]:size-5",
    "p-2! p-3!",
  ])
    expect(classNames(text)).toBe(twMerge(text).trim());
  expect(classNames("px-2", false, undefined, { "p-3": true })).toBe("p-3");
});
