import type { GitHubTarget, NewTarget, TargetMade, TargetRepository } from "@towpath/core/ports";
import { gitHubHostName } from "@towpath/core/sources/github-connection/schema";
import type { GitHubConnections } from "./connections.ts";
import { isGitHubError } from "./errors.ts";
import type { GitHubRepository } from "./github.schema.ts";
import { clientOf, remoteOf } from "./github-files.ts";
import { withGitHub } from "./repository-host.ts";

/** Implements core's port on the connected GitHub Apps. */
export function createGitHubTarget(connections: GitHubConnections): GitHubTarget {
  return {
    account: (installationId) =>
      withGitHub(async () => {
        const { config } = await clientOf(connections, installationId);
        const { account, html_url: settingsUrl } = await connections.installation(installationId);
        const { login, type } = account;
        const { url: hostUrl } = config;
        return { login, isPerson: type === "User", hostName: gitHubHostName(hostUrl), hostUrl, settingsUrl };
      }),
    find: (of) =>
      withGitHub(async () => {
        try {
          const isById = "id" in of;
          return targetOf(
            await (isById ? connections.repositoryById(of.installationId, of.id) : connections.repository(of)),
          );
        } catch (error) {
          if (isGitHubError(error, "not_found")) return null;
          throw error;
        }
      }),
    heads: (address) => withGitHub(async () => (await connections.heads(address, null))?.heads ?? new Map()),
    make: (target) => withGitHub(() => make(connections, target)),
    setDefaultBranch: (address, branch) => withGitHub(() => connections.setDefaultBranch(address, branch)),
    remote: (address, { fullName }) =>
      withGitHub(async () => {
        const { config } = await clientOf(connections, address.installationId);
        const [owner = "", name = ""] = fullName.split("/");
        return remoteOf(config.url, { ...address, owner, name }, await connections.pushToken(address));
      }),
  };

  async function make(of: GitHubConnections, target: NewTarget): Promise<TargetMade> {
    try {
      if (target.userToken !== null) {
        const viewer = await (await clientOf(of, target.installationId)).viewer(target.userToken);
        const { account } = await of.installation(target.installationId);
        if (viewer.id !== account.id) return { kind: "other-user", login: viewer.login };
      }
      return { kind: "made", repository: targetOf(await of.createEmptyRepository(target)) };
    } catch (error) {
      if (isGitHubError(error, "name_taken")) return { kind: "taken" };
      // GitHub answers so for a permission that the App lacks, and for rules of the account.
      const isRefused = (["forbidden", "invalid", "not_found"] as const).some((code) => isGitHubError(error, code));
      if (isRefused) return { kind: "refused" };
      throw error;
    }
  }
}

const targetOf = ({
  id,
  full_name,
  private: isPrivate,
  default_branch,
  html_url,
}: GitHubRepository): TargetRepository => ({
  id,
  fullName: full_name,
  private: isPrivate,
  defaultBranch: default_branch,
  url: html_url,
});
