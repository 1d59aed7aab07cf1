import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

// What can be checked of deploy/chart without Helm: `./towpath test chart` renders it.

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const valuesText = read("deploy/chart/values.yaml");
const values: unknown = parse(valuesText);
const schemaText = read("deploy/chart/values.schema.json");

/** A map whose keys the chart knows, with at least one. `resources` belong to Kubernetes. */
const isGroup = (value: unknown, name: string): value is Record<string, unknown> =>
  name !== "resources" &&
  typeof value === "object" &&
  value !== null &&
  Object.keys(value).length > 0 &&
  !Array.isArray(value);

const pathsIn = (value: unknown, path = "", name = ""): string[] =>
  isGroup(value, name)
    ? Object.entries(value).flatMap(([key, each]) => pathsIn(each, path === "" ? key : `${path}.${key}`, key))
    : [path];

type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly additionalProperties?: unknown };
const propertiesIn = ({ properties }: Schema, path = ""): string[] =>
  properties === undefined
    ? [path]
    : Object.entries(properties).flatMap(([key, each]) => propertiesIn(each, path === "" ? key : `${path}.${key}`));

test("OPS-2 OPS-11 the chart's schema has exactly the values, takes the defaults and refuses what it doesn't know", () => {
  const schema: Schema = JSON.parse(schemaText);
  expect(propertiesIn(schema).toSorted()).toEqual(pathsIn(values).toSorted());
  const parser = z.fromJSONSchema(JSON.parse(schemaText));
  expect(parser.safeParse(values).error?.issues).toBeUndefined();
  for (const wrong of ["web: { replicas: 0 }", "web: { replica: 3 }", "tls: { mode: acme }", "proxies: localhost"])
    expect([wrong, parser.safeParse(parse(wrong)).success]).toEqual([wrong, false]);
});

test("OPS-2 each value of the chart has a comment, and the page on Kubernetes names all of them and no other", () => {
  const lines = valuesText.split("\n");
  const bare = lines.filter((line, index) => {
    const [, indent = "", name = ""] = /^( *)([a-z]\w*):/i.exec(line) ?? [];
    if (name === "" || name === "requests" || name === "limits") return false;
    return !lines[index - 1]?.startsWith(`${indent}# `);
  });
  expect(bare).toEqual([]);
  const section = /\n## Values\n(.*?)\n## /s.exec(read("docs/kubernetes.md"))?.[1] ?? "";
  const named = section.split("\n").flatMap((line) => {
    const [, cell = ""] = /^\| (`.*?) \| /.exec(line) ?? [];
    return [...cell.matchAll(/`([\w.]+)`/g)].map(([, path = ""]) => path);
  });
  expect(named.toSorted()).toEqual(pathsIn(values).toSorted());
});

test("OPS-2 each setting that the chart makes of a value is one that a role reads", () => {
  const schemas = globSync("{apps,packages}/*/src/**/*{config,settings}*.ts", { cwd: root }).filter(
    (file) => !/\.test\./.test(file),
  );
  const known = new Set(
    schemas.flatMap((file) => [...read(file).matchAll(/^\s+([A-Z]+(?:_[A-Z0-9]+)+):/gm)].map(([, name]) => name)),
  );
  // Read by uv in builds.
  known.add("UV_DEFAULT_INDEX");
  const templates = ["_settings", "_secrets", "_checks"]
    .map((name) => read(`deploy/chart/templates/${name}.tpl`))
    .join("\n");
  const made = new Set(
    [...templates.matchAll(/"((?:TOWPATH|DATABASE|GITHUB|UV)_[A-Z0-9_]+)"/g)].map(([, name]) => name),
  );
  expect(made.size).toBeGreaterThan(45);
  expect([...made].filter((name) => !known.has(name))).toEqual([]);
});

const rightsSchema = z.record(
  z.string(),
  z.array(z.object({ resources: z.array(z.string()), verbs: z.array(z.string()) })),
);

test("OPS-2 runner and worker have the rights that the driver uses, and no others", () => {
  const template = read("deploy/chart/templates/_rights.tpl").replaceAll(/^\{\{.*\}\}$/gm, "");
  const rights = Object.values(rightsSchema.parse(parse(template))).flat();
  const granted = rights.flatMap(({ resources, verbs }) =>
    resources.flatMap((each) => verbs.map((verb) => `${verb} ${each}`)),
  );
  const driver = globSync("packages/runtime/src/kubernetes/**/*.ts", { cwd: root })
    .filter((file) => !file.includes(".test."))
    .map(read)
    .join("\n");
  const calls = [...driver.matchAll(/\bapi\.(\w+)(?:<[^>]*>)?\(\s*(?:"([a-z]+)")?/g)];
  const used = calls.flatMap(([, method = "", kind]) => {
    if (method === "logs") return ["get pods/log"];
    return kind === undefined ? [] : [`${method === "replace" ? "update" : method} ${kind}`];
  });
  expect([...new Set(granted)].toSorted()).toEqual([...new Set(used)].toSorted());
});

test("OPS-2 chart and image have the version of this tree", () => {
  const { version } = JSON.parse(read("package.json"));
  expect(parse(read("deploy/chart/Chart.yaml"))).toMatchObject({ version, appVersion: version });
});
