import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { repositoryRoot } from "../instance/towpath-process.ts";

// kubeconform's schemas, from the sources of what defines the objects: the API server's OpenAPI document and the CRDs.

/** Modules that have them, of the versions against which the chart is checked. */
const modules = {
  kubernetes: "k8s.io/kubernetes@v1.34.1",
  gateway: "sigs.k8s.io/gateway-api@v1.6.3",
  certManager: "github.com/cert-manager/cert-manager@v1.21.2",
} as const;

const directory = join(repositoryRoot, ".toolchain/chart/schemas");
/** For kubeconform's option `-schema-location`. */
export const schemaLocation = join(directory, "{{ .ResourceKind }}{{ .KindSuffix }}.json");
const fileOf = (group: string, version: string, kind: string) =>
  join(directory, `${[kind.toLowerCase(), group.split(".")[0], version].filter(Boolean).join("-")}.json`);

type Schema = { [key: string]: unknown };
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Where the Go proxy's copy of a module is; its bytes are those of the checksum database. */
async function sourceOf(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { cwd: tmpdir() });
  return z.object({ Dir: z.string() }).parse(JSON.parse(stdout)).Dir;
}

/** Makes them unless they are there already. */
export async function writeSchemas(): Promise<void> {
  const made = join(directory, "made-from");
  const expected = JSON.stringify(modules);
  if (existsSync(made) && (await readFile(made, "utf8")) === expected) return;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const kubernetes = join(await sourceOf(modules.kubernetes), "api/openapi-spec/swagger.json");
  await writeBuiltIn(JSON.parse(await readFile(kubernetes, "utf8")));
  await writeCustom(join(await sourceOf(modules.gateway), "config/crd/standard"));
  await writeCustom(join(await sourceOf(modules.certManager), "deploy/crds"));
  await writeFile(`${made}.new`, expected);
  await rename(`${made}.new`, made);
}

const openApiSchema = z.object({
  definitions: z.record(
    z.string(),
    z.looseObject({
      "x-kubernetes-group-version-kind": z
        .array(z.object({ group: z.string(), version: z.string(), kind: z.string() }))
        .optional(),
    }),
  ),
});

async function writeBuiltIn(document: unknown): Promise<void> {
  const definitions: Record<string, Schema> = openApiSchema.parse(document).definitions;
  for (const [name, definition] of Object.entries(definitions)) {
    const kinds = z
      .array(z.object({ group: z.string(), version: z.string(), kind: z.string() }))
      .optional()
      .parse(definition["x-kubernetes-group-version-kind"]);
    // Options of requests are of every group.
    if (kinds?.length !== 1 || !isSchema(definition.properties)) continue;
    const needed = new Map<string, Schema>();
    collect(name, definitions, needed);
    for (const { group, version, kind } of kinds) {
      const whole = { $ref: `#/definitions/${name}`, definitions: Object.fromEntries(needed) };
      await writeFile(fileOf(group, version, kind), JSON.stringify(whole));
    }
  }
}

/** Definitions that one refers to, itself included. */
function collect(name: string, definitions: Readonly<Record<string, Schema>>, into: Map<string, Schema>): void {
  const definition = definitions[name];
  if (into.has(name) || definition === undefined) return;
  into.set(name, name.endsWith(".resource.Quantity") ? textOrNumber : strict(definition));
  for (const [, referred = ""] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g))
    collect(referred, definitions, into);
}

const textOrNumber: Schema = { type: ["string", "number"] };
/** Keys of a schema whose values are schemas too. Alternatives aren't: they name only some of the fields. */
const nested: ReadonlySet<string> = new Set(["items", "additionalProperties"]);

/** As JSON Schema, which refuses fields that nobody knows. */
function strict(schema: Schema): Schema {
  if (schema.format === "int-or-string" || schema["x-kubernetes-int-or-string"] === true) return textOrNumber;
  const { properties, type, nullable, description: _, format: __, ...rest } = schema;
  const inner = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, nested.has(key) ? strictValue(value) : value]),
  );
  const isOpen = rest["x-kubernetes-preserve-unknown-fields"] === true || "additionalProperties" in rest;
  return {
    ...inner,
    ...(type !== undefined && { type: nullable === true ? [type, "null"] : type }),
    ...(isSchema(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strictValue(each)])),
      ...(!isOpen && { additionalProperties: false }),
    }),
  };
}

const strictValue = (value: unknown): unknown => (isSchema(value) ? strict(value) : value);

const definitionSchema = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.looseObject({}) }) })),
  }),
});

async function writeCustom(definitions: string): Promise<void> {
  for (const file of (await readdir(definitions)).filter((name) => name.endsWith(".yaml")))
    for (const document of parseAllDocuments(await readFile(join(definitions, file), "utf8"))) {
      const parsed = definitionSchema.safeParse(document.toJS());
      if (!parsed.success) continue;
      const { group, names, versions } = parsed.data.spec;
      for (const { name, schema } of versions) {
        const { metadata: _, ...properties } = z
          .record(z.string(), z.unknown())
          .parse(schema.openAPIV3Schema.properties);
        const whole = strict({
          ...schema.openAPIV3Schema,
          properties: { ...properties, metadata: { type: "object" } },
        });
        await writeFile(fileOf(group, name, names.kind), JSON.stringify(whole));
      }
    }
}
