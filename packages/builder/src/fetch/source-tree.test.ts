import { posix } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { linkStaysInside, parseEntryPath } from "./source-tree.ts";

const hostile = fc.array(fc.constantFrom("..", ".", "", "a", "b c", "/", "\\", "…", "-x", "\u0000", "\n"), {
  maxLength: 12,
});
const names = fc.oneof(
  hostile.map((parts) => parts.join("/")),
  fc.string({ maxLength: 60 }),
);

test("BLD-2 an accepted entry path stays inside the tree, with any name", () => {
  fc.assert(
    fc.property(names, (name) => {
      const path = parseEntryPath(name);
      if (path.kind !== "path") return;
      const joined = posix.join("/root", ...path.parts);
      expect(joined.startsWith("/root/")).toBe(true);
      expect(joined).toBe(`/root/${path.parts.join("/")}`);
      expect(path.parts.every((part) => !part.includes("\0"))).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test("BLD-2 a link that leaves the tree is refused, also where it comes back by some directory's name", () => {
  expect(
    [
      ["a", "../root/b"],
      ["a/b", "../../root/a"],
      ["a/b", "../c"],
    ].map(([path = "", to = ""]) => linkStaysInside(path.split("/"), to)),
  ).toEqual([false, false, true]);
});

test("BLD-2 an accepted link resolves inside the tree, with any target", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 }), names, (parts, target) => {
      if (!linkStaysInside(parts, target)) return;
      const resolved = posix.resolve("/root", ...parts.slice(0, -1), target);
      expect(resolved === "/root" || resolved.startsWith("/root/")).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});
