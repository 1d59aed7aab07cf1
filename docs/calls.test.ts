import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRouteHandlers, listServerFunctions } from "../apps/web/testing/list-entry-points.ts";
import { parseCalls, specifiedCalls } from "./calls.ts";
import { titlesIn } from "./requirements.ts";

const root = join(import.meta.dirname, "..");
const { calls, problems } = parseCalls(readFileSync(join(root, "docs/calls.md"), "utf8"));

test("GH-4 docs/calls.md has a row for each call of the specification, with its method", () => {
  expect(problems).toEqual([]);
  const named = calls.map(({ call }) => call);
  expect(named.filter((call, at) => named.indexOf(call) !== at)).toEqual([]);
  expect(named.filter((call) => !(call in specifiedCalls))).toEqual([]);
  expect(Object.keys(specifiedCalls).filter((call) => !named.includes(call))).toEqual([]);
  const otherMethod = calls.filter(({ call, method }) => !["either", method].includes(specifiedCalls[call] ?? ""));
  expect(otherMethod).toEqual([]);
});

test("GH-4 each row of docs/calls.md names a server function or route that exists, with its method and permission", async () => {
  const entries = new Map<string, string>();
  for (const { id, method, access } of await listServerFunctions()) entries.set(`${method} ${id}`, needOf(access));
  for (const { id, access } of await listRouteHandlers()) {
    const [method = "", file = ""] = id.split(" ");
    entries.set(`${method} ${pathOf(file)}`, needOf(access));
  }
  const wrong = calls.filter(({ method, target, permission }) => entries.get(`${method} ${target}`) !== permission);
  expect(wrong).toEqual([]);
});

test("GH-4 each row of docs/calls.md names a test; those of GitHub's calls make the call", async () => {
  const titles = new Set<string>();
  const tests: string[] = [];
  for await (const file of glob("{apps,packages,tests}/**/*.test.{ts,tsx}", {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  })) {
    const text = readFileSync(join(root, file), "utf8");
    // Those of the thorough stage count, too.
    for (const title of titlesIn(text.replaceAll(".runIf(isThorough)", ""))) titles.add(title);
    tests.push(...text.split(/^test\(/m));
  }
  expect(calls.filter(({ test: title }) => !titles.has(title)).map(({ call, test: title }) => [call, title])).toEqual(
    [],
  );
  const ofGitHub = calls.filter(({ target }) => target.startsWith("github"));
  expect(ofGitHub.length).toBeGreaterThan(9);
  const unmade = ofGitHub.filter(
    ({ test: title, target }) => !tests.some((each) => each.startsWith(`"${title}"`) && each.includes(`"${target}"`)),
  );
  expect(unmade.map(({ call, test: title }) => [call, title])).toEqual([]);
});

type Access = Awaited<ReturnType<typeof listServerFunctions>>[number]["access"];
const needOf = (access: Access) => (access?.kind === "permission" ? access.permission : (access?.reason ?? "none"));

/** `api/v1/projects/$name/index.ts` → `/api/v1/projects/{name}` */
const pathOf = (file: string) =>
  `/${file.replace(/(\/index)?\.tsx?$/, "").replaceAll(/\$(\w+)/g, "{$1}")}`.replaceAll("[.]", ".");
