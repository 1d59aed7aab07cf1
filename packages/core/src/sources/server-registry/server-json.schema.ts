import { z } from "zod";
import { packageNameSchema, packageVersionSchema } from "../package/package.schema.ts";

// server.json of the MCP registry, as of schema 2025-12-11: the parts that say how to run a server.
// https://github.com/modelcontextprotocol/registry: docs/reference/server-json.

const inputSchema = z.object({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  value: z.string().optional(),
});
const argumentSchema = inputSchema.extend({
  type: z.enum(["positional", "named"]),
  name: z.string().optional(),
  valueHint: z.string().optional(),
});
type Argument = z.output<typeof argumentSchema>;

const packageSchema = z.object({
  registryType: z.string(),
  registryBaseUrl: z.string().optional(),
  identifier: z.string(),
  version: z.string().optional(),
  packageArguments: z.array(argumentSchema).default([]),
  environmentVariables: z.array(inputSchema.extend({ name: z.string() })).default([]),
});

export const serverJsonSchema = z.object(
  {
    name: z.string({ error: "A server.json has a name, such as io.github.owner/server" }).min(1).max(200),
    title: z.string().optional(),
    description: z.string().default(""),
    version: z.string().default(""),
    packages: z.array(packageSchema).default([]),
    remotes: z.array(z.object({ type: z.string(), url: z.string() })).default([]),
  },
  { error: "A server.json is a JSON object" },
);

/** A variable that a server reads, with what its author says of it. */
const entryVariableSchema = z.object({ name: z.string(), description: z.string(), isRequired: z.boolean() });
type EntryVariable = z.infer<typeof entryVariableSchema>;

/** A Python package that an entry runs, ready to be deployed. */
const entryPackageSchema = z.object({
  name: z.string(),
  version: z.string().nullable().describe("null: the newest"),
  arguments: z.array(z.string()).readonly(),
  variables: z.array(entryVariableSchema).readonly(),
});
export type EntryPackage = z.infer<typeof entryPackageSchema>;

/** A server of a registry: what of it can run here, and where it runs by itself. */
export const registryEntrySchema = z.object({
  /** Such as `io.github.owner/server`. */
  name: z.string(),
  /** For people; the name where there is no other. */
  title: z.string(),
  description: z.string(),
  version: z.string(),
  packages: z.array(entryPackageSchema).readonly(),
  urls: z.array(z.string()).readonly().describe("where somebody else runs it"),
  /** Such as `npm`. */
  otherKinds: z.array(z.string()).readonly().describe("kinds of its other packages, which don't run here"),
});
export type RegistryEntry = z.infer<typeof registryEntrySchema>;

/** The index that installs packages here, unless the operator chose another, has them by the same names. */
const standardIndex = /^https:\/\/(www\.)?pypi\.org\/?$/;

/** What a server.json says about how to run the server. */
export function registryEntryOf(server: z.output<typeof serverJsonSchema>): RegistryEntry {
  const packages = server.packages.map((each) => ({ kind: kindOf(each), entry: entryPackage(each) }));
  return {
    name: server.name,
    title: server.title ?? server.name,
    description: server.description,
    version: server.version,
    packages: packages.flatMap(({ entry }) => entry ?? []),
    // Addresses with a part to fill in can't be connected to as they are.
    urls: server.remotes.map(({ url }) => url).filter((url) => /^https?:\/\/[^{]+$/.test(url)),
    otherKinds: [...new Set(packages.filter(({ entry }) => entry === null).map(({ kind }) => kind))],
  };
}

const kindOf = ({ registryType, registryBaseUrl }: z.output<typeof packageSchema>): string =>
  registryType === "pypi" && registryBaseUrl !== undefined ? `pypi of ${registryBaseUrl}` : registryType;

function entryPackage(found: z.output<typeof packageSchema>): EntryPackage | null {
  const name = packageNameSchema.safeParse(found.identifier);
  const isIndexed = found.registryBaseUrl === undefined || standardIndex.test(found.registryBaseUrl);
  if (found.registryType !== "pypi" || !isIndexed || !name.success) return null;
  const parts = found.packageArguments.map(argvOf);
  const declared = found.environmentVariables.map(({ name, description = "", isRequired = false }) => ({
    name,
    description,
    isRequired,
  }));
  return {
    name: name.data,
    version: packageVersionSchema.safeParse(found.version).data ?? null,
    arguments: parts.flatMap(({ argv }) => argv),
    variables: [...declared, ...parts.flatMap(({ variable }) => variable ?? [])],
  };
}

/**
 * One argument as a list for the program. What its author leaves to the person becomes a variable of the same name, which
 * our arguments may refer to: `--db-path` is `--db-path ${DB_PATH}`.
 */
function argvOf(argument: Argument): { argv: readonly string[]; variable: EntryVariable | null } {
  const { type, name, valueHint, description = "", isRequired = false } = argument;
  const flag = type === "named" && name !== undefined ? [name] : [];
  const fixed = argument.value ?? argument.default;
  if (fixed !== undefined && !/\{[^{}]+\}/.test(fixed)) {
    return { argv: fixed === "" ? flag : [...flag, fixed], variable: null };
  }
  if (!isRequired) return { argv: [], variable: null };
  const variable = variableName(name ?? valueHint ?? "value");
  return { argv: [...flag, `\${${variable}}`], variable: { name: variable, description, isRequired } };
}

function variableName(text: string): string {
  const name =
    text
      .match(/[A-Za-z0-9]+/g)
      ?.join("_")
      .toUpperCase() ?? "VALUE";
  return /^\d/.test(name) ? `VALUE_${name}` : name;
}
