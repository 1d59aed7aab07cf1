import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { installationView, listInstallationRows } from "./installation.store.ts";
import type { InstallationView } from "./installation.view.ts";

/** The GitHub installations of an organization, oldest first (GH-1). */
export async function listInstallations(call: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<readonly InstallationView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "installation.read", { orgSlug: input.orgSlug });
  return (await listInstallationRows(ctx.db, organization.id)).map(installationView);
}
