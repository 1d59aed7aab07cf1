import { shortCommit, versionText } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import type { Api } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";

const deployedSchema = z.object({
  id: z.string(),
  commitSha: z.string(),
  packageVersion: z.string().nullable(),
  commitMessage: z.string().nullable(),
  createdAt: z.string(),
  // Earlier instances have no approvals.
  approval: z.string().nullable().default(null),
  branch: z.object({ name: z.string() }),
  project: z.object({ orgSlug: z.string(), name: z.string(), defaultBranch: z.string() }),
  deployment: z.object({ id: z.string(), isLive: z.boolean(), isProd: z.boolean(), url: z.string() }),
});
/** A build that has a deployment. */
export type Deployed = z.infer<typeof deployedSchema>;

const pageSchema = z.object({ data: z.array(deployedSchema) });

/** The newest 100 deployments of a server, of all branches or of one. */
export async function listDeployments(api: Api, name: string, branch?: string): Promise<readonly Deployed[]> {
  const query = new URLSearchParams({ limit: "100", ...(branch !== undefined && { branch }) });
  const path = `${projectPath(name)}/deployments?${query}`;
  return (await api.call("GET", path, pageSchema)).data;
}

/**
 * The newest deployment of a package's version, or of a commit given by at least four digits of its id.
 *
 * @throws CommandError when no deployment matches, or deployments of several commits do
 */
export function deploymentOf(commit: string, among: readonly Deployed[]): Deployed {
  const ofVersion = among.find(({ packageVersion }) => packageVersion === commit);
  if (ofVersion) return ofVersion;
  const isPackage = among.some(({ packageVersion }) => packageVersion !== null);
  if (isPackage) throw new CommandError(`No deployment has version ${commit}. There are: ${namesOf(among)}.`);
  if (!/^[0-9a-f]{4,40}$/.test(commit)) {
    throw new UsageError(`${commit} is not a commit id. Pass at least its first four characters.`);
  }
  const found = among.filter(({ commitSha }) => commitSha.startsWith(commit));
  const [newest] = found;
  if (newest === undefined) {
    throw new CommandError(`No deployment has commit ${commit}. There are: ${namesOf(among)}.`);
  }
  if (found.some(({ commitSha }) => commitSha !== newest.commitSha)) {
    throw new CommandError(`Several commits begin with ${commit}: ${namesOf(found)}. Pass more of the id.`);
  }
  return newest;
}

const maxNamed = 5;

const namesOf = (deployed: readonly Deployed[]): string => {
  const distinct = [...new Set(deployed.map(versionText))];
  const more = distinct.length > maxNamed ? ` and ${distinct.length - maxNamed} more` : "";
  return distinct.length === 0 ? "none" : distinct.slice(0, maxNamed).join(", ") + more;
};

/** A commit in one line. */
export const commitText = ({ packageVersion, commitSha, commitMessage }: Deployed): string =>
  [packageVersion === null && shortCommit(commitSha), commitMessage?.split("\n", 1)[0]?.replaceAll(/\p{Cc}+/gu, " ")]
    .filter(Boolean)
    .join(" ");
