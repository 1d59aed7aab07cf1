import type { GitHubFiles, GitRemote, RepositoryAddress } from "@towpath/core/ports";
import { atHost, environmentConnection } from "@towpath/core/sources/github-connection/numbers";
import type { GitHubConnections } from "./connections.ts";
import type { GitHub } from "./contract.ts";
import { GitHubError } from "./errors.ts";
import { withGitHub } from "./repository-host.ts";

/** Implements core's port on the connected GitHub Apps. */
export function createGitHubFiles(connections: GitHubConnections): GitHubFiles {
  return {
    reading: (address) =>
      withGitHub(async () => {
        const { config } = await clientOf(connections, address.installationId);
        return remoteOf(config.url, address, await connections.fetchToken(address));
      }),
    writing: (address, userToken) =>
      withGitHub(async () => {
        const { viewer, config } = await clientOf(connections, address.installationId);
        const { id, login, name } = await viewer(userToken);
        const email = `${id}+${login}@users.noreply.${new URL(config.url).hostname}`;
        return { remote: remoteOf(config.url, address, userToken), author: { name: name || login, email } };
      }),
    openPullRequest: (address, pull) => withGitHub(() => connections.createPullRequest(address, pull)),
  };
}

/** @throws GitHubError `not_found` */
export async function clientOf(connections: GitHubConnections, installationId: number): Promise<GitHub> {
  const found = await connections.find(atHost(installationId).connection);
  if (found) return found.github;
  throw new GitHubError("not_found", { detail: "the connection was removed" });
}

/** @param url of the host, for browsers */
export function remoteOf(url: string, { installationId, owner, name }: RepositoryAddress, token: string): GitRemote {
  return {
    url: `${url}/${owner}/${name}.git`,
    atAnyAddress: atHost(installationId).connection === environmentConnection,
    credential: { kind: "token", username: "x-access-token", token },
  };
}
