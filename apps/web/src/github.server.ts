import type { Context } from "@towpath/core/context";
import { requireInstallation } from "@towpath/core/installation";
import { gitHubNotConfigured } from "@towpath/core/ports";
import type { GitHub, RepositoryAddress } from "@towpath/github";
import { services } from "~/compose.server.ts";

/** @throws TowpathError `not_configured` on an instance without a GitHub App and without the local forge. */
export function gitHub(): GitHub {
  const { gitHub: client } = services();
  if (client) return client;
  throw gitHubNotConfigured();
}

/** An address that the organization may read; the check comes before any call to GitHub. */
export async function addressOf(
  ctx: Context,
  call: { readonly orgSlug: string } & RepositoryAddress,
): Promise<RepositoryAddress> {
  const { orgSlug, installationId, owner, name } = call;
  await requireInstallation({ ctx, input: { orgSlug, installationId } });
  return { installationId, owner, name };
}
