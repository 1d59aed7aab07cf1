import { createHash } from "node:crypto";
import type { ResolvedPython } from "@towpath/runtime";
import type { Plan } from "../plan/index.ts";

/** Raised when the way layers are made changes, so that old ones are not taken for new ones. */
const format = 1;

type Tools = {
  readonly organizationId: string;
  readonly python: ResolvedPython;
  readonly uvVersion: string;
  readonly buildEnvironment: Readonly<Record<string, string>>;
};

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function surroundings({ organizationId, python, uvVersion, buildEnvironment }: Tools) {
  // The organization is part of it: whoever writes a cache could otherwise prepare a layer that another one gets.
  return [
    format,
    organizationId,
    python.version,
    python.prefix,
    process.arch,
    process.platform,
    uvVersion,
    buildEnvironment,
  ];
}

/** Names a resolution: what was asked, by whom, for which Python and indexes. */
export const resolutionKey = (plan: Plan, tools: Tools): string => digest([surroundings(tools), plan.inputDigest]);

/**
 * Names a dependency layer by what is in it: the exact list (or the lock), the interpreter, uv, and what the project
 * adds to it. Code is not part of it unless something is built out of the code.
 */
export const dependencyKey = (plan: Plan, exact: string, tools: Tools): string =>
  digest([surroundings(tools), plan.dependencies.kind, exact, plan.project, plan.usesTree ? plan.inputDigest : null]);

/** Names a code layer: the files, and the Python whose bytecode lies beside them. The same for all organizations. */
export const codeKey = (treeDigest: string, python: ResolvedPython): string =>
  digest([format, treeDigest, python.version]);
