import { flag, listOf, positiveInteger, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

/** A variable's name. Cuts off `=value`: a URL must not carry secrets. */
const variableName = (value: unknown) => text(4096)(value)?.split("=", 1)[0]?.slice(0, 256) || undefined;

/** Fields of a server from any source. */
export const serverReaders = {
  serverName: text(64),
  entrypoint: text(200),
  arguments: text(500),
  requirements: text(200),
  rootDirectory: text(200),
  envVariables: listOf(variableName, 100),
};

const deployReaders = {
  ...serverReaders,
  defaultBranch: text(255),
  teamId: text(64),
  shouldUseAuth: flag,
  repoName: text(255),
  owner: text(100),
  repo: text(100),
  isPrivate: flag,
  installationId: positiveInteger,
};

/** The deploy fields in the URL (ONB-5). Invalid ones are ignored: the form asks for them. */
export const deploySearchParameters = searchParameters(deployReaders);
export type DeploySearch = SearchOf<typeof deployReaders>;

const setupReaders = { ...deployReaders, isCreating: flag, error: text(500) };

/** The same for server-setup, which also carries the quickstart's progress (ONB-3). */
export const setupSearchParameters = searchParameters(setupReaders);
export type SetupSearch = SearchOf<typeof setupReaders>;

export type DeployAddress = { readonly installationId: number; readonly owner: string; readonly repo: string };

/** The repository in the fields, by owner and name or by both in one; null if incomplete. */
export function repositoryOf({ installationId, owner, repo, repoName }: DeploySearch): DeployAddress | null {
  const [ownerOfName, nameOfName] = repoName?.split("/") ?? [];
  const address = { owner: owner ?? ownerOfName, repo: repo ?? nameOfName };
  if (!installationId || !address.owner || !address.repo) return null;
  return { installationId, owner: address.owner, repo: address.repo };
}
