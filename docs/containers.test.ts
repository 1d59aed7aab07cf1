import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

// What can be checked without building the image: `./towpath test image` runs it.

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");
const page = read("docs/containers.md");
const dockerfile = read("deploy/Dockerfile");

type Service = {
  readonly command?: string;
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly devices?: readonly string[];
  readonly read_only?: boolean;
};
const { services }: { services: Readonly<Record<string, Service>> } = parse(read("deploy/compose.yaml"), {
  merge: true,
});
const { postgres: _, ...ours } = services;

test("OPS-2 the compose file runs each role with settings that exist, and only runner and worker with rights", () => {
  const roles = ["web", "gateway", "worker", "runner"];
  expect(Object.values(ours).map(({ command }) => command)).toEqual(
    expect.arrayContaining(["migrate", ...roles.map((role) => `run ${role}`)]),
  );
  expect(Object.keys(ours).toSorted()).toEqual(["migrate", ...roles].toSorted());
  const settings = [...`${JSON.stringify(ours)}${read("deploy/env.example")}`.matchAll(/\bTOWPATH_\w+(?=[":=])/g)];
  const known = `${page}${read("docs/configuration.md")}`;
  expect(settings.filter(([name]) => !known.includes(`\`${name}`))).toEqual([]);
  for (const [name, service] of Object.entries(ours)) {
    expect([name, service.read_only, service.cap_drop]).toEqual([name, true, ["ALL"]]);
    const isolates = name === "runner" || name === "worker";
    expect([name, service.user, service.cap_add !== undefined]).toEqual([
      name,
      isolates ? "0:10001" : undefined,
      isolates,
    ]);
  }
});

test("OPS-2 the page on containers lists the options that servers need, and no others", () => {
  const { cap_add: added = [], security_opt: security = [], devices = [] } = services.runner ?? {};
  const section = page.split(/^## /m).find((text) => text.startsWith("What servers need")) ?? "";
  const table = section.split("\n").filter((line) => line.startsWith("| `"));
  const listed = table.flatMap((line) =>
    [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const options = security.filter((option) => option !== "no-new-privileges");
  expect(listed.map((name) => name?.replace("cap_add: ", "")).toSorted()).toEqual(
    ["cap_drop: ALL", ...added, ...options, ...devices].toSorted(),
  );
});

test("OPS-2 the image has what the launcher installs, the version of this tree, and no secrets of deploy/", () => {
  const launcher = read("towpath");
  const tools = /^sandbox_tools='(.*)'$/m.exec(launcher)?.[1] ?? "";
  const needed = [...tools.matchAll(/=(\S+)/g)].map(([, name]) => name);
  const installed = /--no-install-recommends \\\n(.*?) \\$/ms.exec(dockerfile)?.[1]?.split(/\s+/);
  for (const name of [...needed, "git", "python3"]) expect(installed).toContain(name);
  expect(/^ARG VERSION=(.*)$/m.exec(dockerfile)?.[1]).toBe(JSON.parse(read("package.json")).version);
  expect(read(".dockerignore").split("\n")).toContain("deploy/.env");
  expect(read(".gitignore").split("\n")).toContain("deploy/.env");
  expect(dockerfile).toMatch(/^USER towpath$/m);
});
