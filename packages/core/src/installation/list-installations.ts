import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import type { InstallationView } from "./installation.store.ts";
import { installationView, listInstallationRows, requireUsableInstallation } from "./installation.store.ts";

/** The GitHub installations of an organization, oldest first (GH-1). */
export async function listInstallations(call: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<readonly InstallationView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "installation.read", { orgSlug: input.orgSlug });
  return (await listInstallationRows(ctx.db, organization.id)).map(installationView);
}

/**
 * Checks that the caller may read repositories through an installation, before anything is asked of GitHub.
 *
 * @throws TowpathError see `requireUsableInstallation`.
 */
export async function requireInstallation(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly installationId: number };
}): Promise<void> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "installation.read", { orgSlug: input.orgSlug });
  await requireUsableInstallation(ctx.db, organization.id, input.installationId);
}
