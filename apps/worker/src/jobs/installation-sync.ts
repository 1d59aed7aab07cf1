import { syncInstallation } from "@towpath/core/webhook";
import { isGitHubError } from "@towpath/github";
import { jobContext, type Services } from "../services.ts";

/** Asks GitHub how an installation is. A throw (GitHub or the database is away) gives the job back. */
export async function syncInstallationWithGitHub(services: Services, installationId: number): Promise<void> {
  const ctx = jobContext(services, "installation.sync");
  const { changed } = await syncInstallation({
    ctx,
    input: {
      installationId,
      async ask(id) {
        try {
          const { account, suspended_at: suspendedAt } = await services.github.installation(id);
          return { kind: "installed", accountLogin: account.login, isSuspended: suspendedAt !== null };
        } catch (error) {
          if (isGitHubError(error, "not_found")) return { kind: "gone" };
          throw error;
        }
      },
    },
  });
  services.log.info({ installationId, changed }, "installation synced with GitHub");
}
