import { githubConnection, githubInstallation, githubUser } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../context/index.ts";
import { requireConfirmation } from "../../input/index.ts";
import { gitHubHostName } from "./github-connection.schema.ts";
import { authorizeInstance, lockConnection, ofConnection, usesOf } from "./github-connection.store.ts";

/**
 * Forgets a GitHub App and its keys, for all organizations. Servers that were built from there get no more builds and keep
 * what is live. The App stays at GitHub, where its owner deletes it.
 *
 * @throws TowpathError `not_found`; `invalid_input` unless `confirmation` is the App's name
 */
export async function removeGitHub({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly id: string; readonly confirmation: string }>): Promise<void> {
  const { organization } = await authorizeInstance(ctx, input);
  await ctx.db.transaction(async (tx) => {
    const row = await lockConnection(tx, input.id);
    requireConfirmation(input.confirmation, row.appSlug);
    const { servers } = await usesOf(tx, row.number);
    await tx.delete(githubInstallation).where(ofConnection(githubInstallation.installationId, row.number));
    await tx.delete(githubUser).where(eq(githubUser.connection, row.number));
    await tx.delete(githubConnection).where(eq(githubConnection.id, row.id));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "github.remove",
      subject: row.appSlug,
      detail: { host: gitHubHostName(row.url), servers: servers.length },
    });
  });
}
