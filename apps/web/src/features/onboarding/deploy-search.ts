import { flag, listOf, positiveInteger, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

/** A variable's name. A value that somebody put behind it is cut off: it has no place in an address. */
const variableName = (value: unknown) => text(4096)(value)?.split("=", 1)[0]?.slice(0, 256) || undefined;

const deployReaders = {
  serverName: text(64),
  defaultBranch: text(255),
  teamId: text(64),
  entrypoint: text(200),
  requirements: text(200),
  envVariables: listOf(variableName, 100),
  shouldUseAuth: flag,
  repoName: text(255),
  owner: text(100),
  repo: text(100),
  isPrivate: flag,
  installationId: positiveInteger,
};

/** The deploy fields that travel in the address (ONB-5). Anything faulty is dropped, the form asks for it again. */
export const deploySearchParameters = searchParameters(deployReaders);
export type DeploySearch = SearchOf<typeof deployReaders>;

/** The same for server-setup, which also carries how a quickstart is going (ONB-3). */
export const setupSearchParameters = searchParameters({ ...deployReaders, isCreating: flag, error: text(500) });
