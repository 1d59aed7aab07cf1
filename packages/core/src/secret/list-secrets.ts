import { secret } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { secretView } from "./secret.store.ts";
import type { SecretView } from "./secret.view.ts";

/** The secrets of a project by name, never their values (KEY-1). */
export async function listSecrets(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<readonly SecretView[]> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "secret.read", {
    orgSlug: input.orgSlug,
    projectName: input.projectName,
  });
  const rows = await ctx.db.select().from(secret).where(eq(secret.projectId, project.id)).orderBy(secret.keyName);
  return rows.map(secretView);
}
