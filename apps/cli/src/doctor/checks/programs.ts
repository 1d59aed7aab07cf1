import { findProgram } from "../../up/preflight.ts";
import { type Check, fix, ok } from "../finding.ts";

const remedies = {
  git: "apt-get install git",
  uv: "./towpath up installs it; for processes that are started one by one: pip install uv",
} as const;
const ofHttps = { caddy: "apt-get install caddy" } as const;

/** The programs that an instance starts. Those of sandboxes are part of the self-test. */
export const programs: Check = async ({ settings, options }) =>
  Object.entries({ ...remedies, ...(options.https !== null && ofHttps) }).map(([name, remedy]) => {
    const path = findProgram(name, settings.PATH);
    return path === null ? fix(name, "missing", remedy) : ok(name, path);
  });
