import { readFileSync } from "node:fs";
import { packageNameProblem, packageVersionProblem } from "@towpath/core/sources/package/schema";
import {
  type EntryPackage,
  type RegistryEntry,
  registryEntryOf,
  serverJsonSchema,
} from "@towpath/core/sources/server-registry/schema";
import { z } from "zod";
import type { Api } from "../instance/api.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";

const scheme = "pypi:";
const registryScheme = "registry:";

/** A package source. Absent parts were not named. */
export type PackageSource = {
  readonly packageName: string;
  /** Null: the newest. */
  readonly version: string | null;
  readonly arguments?: readonly string[];
  /** Variables that the server needs to start, according to its author. */
  readonly required: readonly string[];
};

/**
 * Whether the source is a package of the index: `pypi:NAME`, `pypi:NAME==VERSION`, `registry:NAME` of an entry in the
 * instance's MCP registry, or the path of a server.json.
 */
export const isPackage = (source: string): boolean =>
  source.startsWith(scheme) || source.startsWith(registryScheme) || source.endsWith(".json");

/** The package of a registry entry, which the instance looks up. @throws CommandError naming the problem */
export async function registrySource(api: Api, source: string, organization: string | undefined) {
  if (!source.startsWith(registryScheme)) return packageSource(source);
  const search = source.slice(registryScheme.length);
  const query = new URLSearchParams({ search, ...(organization !== undefined && { organization }) });
  const { host, entries } = await api.call("GET", `/api/v1/registry?${query}`, foundSchema);
  const entry = entries.find(({ name }) => name === search) ?? (entries.length === 1 ? entries[0] : undefined);
  if (entry !== undefined) return firstPackage(entry, entry.name);
  if (entries.length === 0) throw new CommandError(`${host} has no server whose name contains ${search}.`);
  const names = entries.map(({ name }) => `  registry:${name}`).join("\n");
  throw new CommandError(`${host} has several servers whose names contain ${search}. Name one of them:\n${names}`);
}

const foundSchema = z.object({
  host: z.string(),
  entries: z.array(
    z.object({
      name: z.string(),
      packages: z.array(
        z.object({
          name: z.string(),
          version: z.string().nullable(),
          arguments: z.array(z.string()),
          variables: z.array(z.object({ name: z.string(), isRequired: z.boolean() })),
        }),
      ),
      urls: z.array(z.string()),
      otherKinds: z.array(z.string()),
    }),
  ),
});
type FoundPackage = Pick<EntryPackage, "name" | "version" | "arguments"> & {
  readonly variables: readonly Pick<EntryPackage["variables"][number], "name" | "isRequired">[];
};
type Entry = Pick<RegistryEntry, "urls" | "otherKinds"> & { readonly packages: readonly FoundPackage[] };

/** @throws UsageError naming what is wrong */
export function packageSource(source: string): PackageSource {
  if (!source.startsWith(scheme)) return readServerJson(source);
  const [packageName = "", version = "", ...rest] = source.slice(scheme.length).split("==");
  const problem = packageNameProblem(packageName) ?? packageVersionProblem(version);
  if (problem !== null || rest.length > 0) {
    throw new UsageError(`${problem ?? "There are two versions"}: pypi:NAME or pypi:NAME==VERSION`);
  }
  return { packageName, version: version === "" ? null : version, required: [] };
}

function readServerJson(path: string): PackageSource {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = error instanceof SyntaxError ? "is not JSON" : "can't be read";
    throw new UsageError(`${path} ${why}. Name a directory, pypi:PACKAGE, registry:NAME or a server.json.`);
  }
  const parsed = serverJsonSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${path} is no server.json: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  }
  return firstPackage(registryEntryOf(parsed.data), path);
}

function firstPackage({ packages, otherKinds, urls }: Entry, from: string): PackageSource {
  const [first] = packages;
  if (first === undefined) {
    const offers = [...otherKinds, ...urls].join(", ");
    throw new UsageError(`${from} names no Python package of the package index${offers && `, only: ${offers}`}.`);
  }
  return {
    packageName: first.name,
    version: first.version,
    ...(first.arguments.length > 0 && { arguments: first.arguments }),
    required: first.variables.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}
