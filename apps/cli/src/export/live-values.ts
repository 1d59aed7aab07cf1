import { randomUUID } from "node:crypto";
import { openDatabase } from "@towpath/db";
import { auditLog } from "@towpath/db/schema";
import { createSecretBox, openSecrets, type RootSecrets, readDeploymentSecrets, versionsOf } from "@towpath/secrets";
import { findDataDirectory, openDataDirectory, requireRunningDatabase } from "../instance/instance.ts";
import { CommandError } from "../terminal/terminal.ts";

type Stored = { readonly secrets: RootSecrets; readonly databaseUrl: string };

/**
 * The variables that a deployment was built with. Read past the instance's processes, which never give values to a key or
 * the operator's token: with its secret and database, which only its machine has. The audit log says so first.
 *
 * @throws CommandError when no instance runs on the data directory
 */
export async function liveValues(
  dataDirectory: string | undefined,
  { deploymentId, name }: { readonly deploymentId: string; readonly name: string },
): Promise<Readonly<Record<string, string>>> {
  const { secrets, databaseUrl } = await storedAt(findDataDirectory(dataDirectory));
  const client = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    const stored = await readDeploymentSecrets(client.pool, deploymentId);
    if (stored === null) throw new CommandError(`Another version of ${name} went live meanwhile. Try again.`);
    const [first] = stored.secrets;
    if (first === undefined) return {};
    const { organizationId, projectId } = first;
    await client.db.insert(auditLog).values({
      id: randomUUID(),
      organizationId,
      projectId,
      actor: "operator",
      action: "secret.decrypt",
      subject: deploymentId,
      detail: { reason: "export", versions: versionsOf(stored) },
      createdAt: new Date(),
    });
    return openSecrets(createSecretBox(secrets), stored);
  } finally {
    await client.close();
  }
}

async function storedAt(directory: string): Promise<Stored> {
  const databaseUrl = requireRunningDatabase(
    directory,
    ": values of variables are written on the instance's machine only, while it runs. Name its directory with --data-dir.",
  );
  const { secret, previousSecrets } = await openDataDirectory(directory);
  return { secrets: { current: secret, previous: previousSecrets }, databaseUrl };
}
