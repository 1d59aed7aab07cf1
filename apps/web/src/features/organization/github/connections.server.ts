import type { Context } from "@towpath/core/context";
import { listInstallations } from "@towpath/core/sources/installation";
import { type GitHubConnections, isGitHubError } from "@towpath/github";
import { services } from "~/compose.server.ts";

/** How an installation is at GitHub now. */
type AtGitHub =
  | {
      readonly state: "connected" | "suspended";
      /** Whether the App may read all repositories of the account, including future ones. */
      readonly repositories: "all" | "selected";
      /** Where the account's owner chooses repositories, suspends or removes the App. */
      readonly settingsUrl: string;
      readonly avatarUrl: string;
    }
  /** The account's owner has removed the App; GitHub's webhook will delete the record. */
  | { readonly state: "revoked" }
  /** GitHub didn't answer. */
  | { readonly state: "unknown" };

export type Connection = Awaited<ReturnType<typeof listInstallations>>[number] & { readonly gitHub: AtGitHub };

/** An organization's installations with their state at GitHub, requested in parallel. */
export async function connectionsOf(ctx: Context, orgSlug: string): Promise<readonly Connection[]> {
  const installations = await listInstallations({ ctx, input: { orgSlug } });
  const { gitHub } = services();
  return Promise.all(
    installations.map(async (installation) => ({
      ...installation,
      gitHub: await stateOf(gitHub, installation.installationId),
    })),
  );
}

async function stateOf(gitHub: GitHubConnections, installationId: number): Promise<AtGitHub> {
  try {
    const found = await gitHub.installation(installationId);
    return {
      state: found.suspended_at === null ? "connected" : "suspended",
      repositories: found.repository_selection,
      settingsUrl: found.html_url,
      avatarUrl: found.account.avatar_url,
    };
  } catch (error) {
    if (!isGitHubError(error)) throw error;
    if (isGitHubError(error, "not_found")) return { state: "revoked" };
    services().log.warn({ err: error, installationId }, "an installation's state could not be read");
    return { state: "unknown" };
  }
}
