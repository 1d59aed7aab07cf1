import { createHash } from "node:crypto";
import type { Plan } from "../plan/index.ts";

/** Raised when the way layers are made changes, so that old ones are not taken for new ones. */
const format = 2;

export type KeyParts = {
  readonly organizationId: string;
  /** What the steps ran in: see `BuildWorkspace`. */
  readonly image: string;
};

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

// The organization is part of the key: otherwise one tenant could poison a layer that another one gets.
const surroundings = ({ organizationId, image }: KeyParts) => [format, organizationId, image];

/** Names a resolution: what was asked, by whom, for which Python and indexes. */
export const resolutionKey = (plan: Plan, parts: KeyParts): string => digest([surroundings(parts), plan.inputDigest]);

/**
 * Names a dependency layer by what is in it: the exact list (or the lock), the build image, and what the project
 * adds to it. Code is not part of it unless something is built out of the code.
 */
export const dependencyKey = (plan: Plan, exact: string, parts: KeyParts): string =>
  digest([surroundings(parts), plan.dependencies.kind, exact, plan.project, plan.usesTree ? plan.inputDigest : null]);

/** Names a code layer: the files, and the Python whose bytecode lies beside them. The same for all organizations. */
export const codeKey = (treeDigest: string, pythonVersion: string): string =>
  digest([format, treeDigest, pythonVersion]);
