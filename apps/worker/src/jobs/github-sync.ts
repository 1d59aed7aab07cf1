import { TowpathError } from "@towpath/core/errors";
import { syncBranch, syncInstallation } from "@towpath/core/sources/webhook";
import { jobContext, type Services } from "../services.ts";

// After a throw (the host or the database is unavailable) the job is retried.

/** Updates a branch to its state at the host. */
export async function syncBranchWithHost(
  services: Services,
  target: { readonly projectId: string; readonly branch: string },
): Promise<void> {
  const ctx = jobContext(services, "branch.sync");
  const settled = await syncBranch({ ctx, input: target });
  services.log.info({ ...target, ...settled }, "branch synced with its host");
}

/** Updates an installation to its state at GitHub: active, suspended or removed. */
export async function syncInstallationWithGitHub(services: Services, installationId: number): Promise<void> {
  const ctx = jobContext(services, "installation.sync");
  try {
    const { changed } = await syncInstallation({ ctx, input: { installationId } });
    services.log.info({ installationId, changed }, "installation synced with GitHub");
  } catch (error) {
    // Without an App, its state can't be read.
    if (!(error instanceof TowpathError) || error.code !== "not_configured") throw error;
  }
}
