import type { Context } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import { listInstallations } from "@towpath/core/installation";
import type { GitHub, RepositoryAddress } from "@towpath/github";
import { services } from "~/compose.server.ts";

/** @throws TowpathError `not_configured` on an instance without a GitHub App and without the local forge. */
export function gitHub(): GitHub {
  const { gitHub: client } = services();
  if (client) return client;
  throw new TowpathError(
    "not_configured",
    "GitHub is not set up on this instance. Ask the operator to connect a GitHub App.",
  );
}

/**
 * @throws TowpathError `not_found` for an installation that the organization has not connected, `conflict` for one that
 * its account's owner has suspended.
 */
export async function requireInstallation(ctx: Context, orgSlug: string, installationId: number): Promise<void> {
  const known = await listInstallations({ ctx, input: { orgSlug } });
  const found = known.find((installation) => installation.installationId === installationId);
  if (!found) throw notFound("GitHub installation");
  if (!found.isSuspended) return;
  const whose = `The owner of the GitHub account ${found.accountLogin}`;
  throw new TowpathError("conflict", `${whose} has suspended Towpath there. They can resume it in the App's settings.`);
}

/** An address that the organization may read; the check comes before any call to GitHub. */
export async function addressOf(
  ctx: Context,
  call: { readonly orgSlug: string } & RepositoryAddress,
): Promise<RepositoryAddress> {
  await requireInstallation(ctx, call.orgSlug, call.installationId);
  return { installationId: call.installationId, owner: call.owner, name: call.name };
}
