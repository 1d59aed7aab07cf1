import { readFileSync } from "node:fs";
import { packageNameProblem, packageVersionProblem } from "@towpath/core/package/schema";
import { registryEntryOf, serverJsonSchema } from "@towpath/core/server-registry/schema";
import { UsageError } from "../terminal/terminal.ts";

const scheme = "pypi:";

/** What a source names, as far as it does. */
export type PackageSource = {
  readonly packageName: string;
  /** Null: the newest. */
  readonly version: string | null;
  readonly arguments?: readonly string[];
  /** Variables without which the server doesn't start, as its author says. */
  readonly required: readonly string[];
};

/** Whether what is deployed is a package of the index: `pypi:NAME`, `pypi:NAME==VERSION`, or the path of a server.json. */
export const isPackage = (source: string): boolean => source.startsWith(scheme) || source.endsWith(".json");

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
    throw new UsageError(`${path} ${why}. Name a directory, pypi:PACKAGE or a server.json.`);
  }
  const parsed = serverJsonSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${path} is no server.json: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  }
  const { packages, otherKinds, urls } = registryEntryOf(parsed.data);
  const [first] = packages;
  if (first === undefined) {
    const offers = [...otherKinds, ...urls].join(", ");
    throw new UsageError(`${path} names no Python package of the package index${offers && `, only: ${offers}`}.`);
  }
  return {
    packageName: first.name,
    version: first.version,
    ...(first.arguments.length > 0 && { arguments: first.arguments }),
    required: first.variables.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}
