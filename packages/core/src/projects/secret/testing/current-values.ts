import type { Database } from "@towpath/db";
import { project } from "@towpath/db/schema";
import { findDataKey, openSecrets, type SecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { listCurrentVersions } from "../secret.store.ts";

/** What the next build of an environment gets. */
export async function currentValues(
  db: Database,
  box: SecretBox,
  of: { readonly projectId: string; readonly environment: string },
): Promise<Readonly<Record<string, string>>> {
  const { projectId, environment } = of;
  const current = await listCurrentVersions(db, projectId);
  const [owner] = await db
    .select({ organizationId: project.organizationId })
    .from(project)
    .where(eq(project.id, projectId));
  if (!owner) throw new Error(`there is no project ${projectId}`);
  const secrets = current
    .filter(({ secret }) => secret.environments.includes(environment))
    .map(({ secret }) => ({ ...secret, ...owner, secretId: secret.id }));
  return openSecrets(box, { secrets, dataKey: await findDataKey(db, projectId) });
}
