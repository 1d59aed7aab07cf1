import { versionText } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import type { Api } from "../instance/api.ts";
import { CommandError } from "../terminal/terminal.ts";
import { projectPath, versionSchema } from "./list.ts";

const buildSchema = versionSchema.extend({ id: z.string(), status: z.string() });
export type Build = z.infer<typeof buildSchema>;

/** The newest 100 builds of a server, newest first. */
export async function listBuilds(api: Api, name: string): Promise<readonly Build[]> {
  const page = z.object({ data: z.array(buildSchema) });
  return (await api.call("GET", `${projectPath(name)}/builds?limit=100`, page)).data;
}

/**
 * The newest build of a commit given by at least four digits of its id, or of a package's version; or the build with
 * this id.
 *
 * @throws CommandError naming the existing builds
 */
export function buildOf(chosen: string, builds: readonly Build[]): Build {
  const isCommit = /^[0-9a-f]{4,40}$/.test(chosen);
  const found = builds.find(
    ({ id, commitSha, packageVersion }) =>
      id === chosen ||
      packageVersion === chosen ||
      (isCommit && packageVersion === null && commitSha.startsWith(chosen)),
  );
  if (found) return found;
  const versions = [...new Set(builds.map(versionText))].slice(0, 5).join(", ");
  throw new CommandError(`No build of ${chosen}.${versions === "" ? "" : ` The newest are those of: ${versions}.`}`);
}
