import { fileURLToPath } from "node:url";
import type { ForkingProgram, Mount } from "../engine.ts";
import { seccompFilter } from "../sandbox/seccomp.ts";

/** The package towpath_fork of this checkout. */
export const forkPackage = fileURLToPath(new URL("../../../../../python/towpath_fork", import.meta.url));
const insidePackage = "/opt/towpath-fork/towpath_fork";

/** A sandbox whose command forks needs this mount. */
export const forkMount: Mount = { host: forkPackage, inside: insidePackage, writable: false };

/** Users of the namespace that a command and its forks share: each fork gets one of its own. */
export const forkUsers = 65_536;

/** All that a command that forks may do beyond other servers' code: enter namespaces of its own users. */
const callsOfParents = ["setns"];

/** Starts a program as root of a namespace of users, in place of a change of user. Pure. */
export function enterUsers({ python }: ForkingProgram, architecture: string, uid: number): string[] {
  const filter = encodedFilter(architecture, callsOfParents);
  return [...python, "-I", "-S", `${insidePackage}/enter.py`, String(uid), String(forkUsers), filter];
}

/** A filter of system calls for the programs of towpath_fork. Pure. @throws Error for an architecture without one */
export function encodedFilter(architecture: string, allowed: readonly string[] = []): string {
  const filter = seccompFilter(architecture, allowed);
  if (filter === null) throw new Error(`Nothing forks on ${architecture}, which has no filter of system calls.`);
  return Buffer.from(filter).toString("base64");
}
