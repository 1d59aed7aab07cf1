import type { Context } from "@towpath/core/context";
import { createSecret, deleteSecret, listSecrets, type SecretView, updateSecret } from "@towpath/core/secret";
import { type createSecretSchema, updateSecretSchema } from "@towpath/core/secret/schema";
import type { z } from "zod";
import { operatorProject } from "./operator-route.server.ts";

/** Of a body with a value of 64 KiB, however it is escaped. */
export const maxSecretBodyBytes = 512 * 1024;

/** What of a secret can be changed; its name is in the URL. */
export const changeSecretSchema = updateSecretSchema.omit({ keyName: true });

/** The secrets of a project, never their values (KEY-1). */
export async function projectSecrets(ctx: Context, project: string): Promise<{ data: readonly SecretView[] }> {
  const { id: projectId } = await operatorProject(ctx, project);
  return { data: await listSecrets({ ctx, input: { projectId } }) };
}

/** Creates one; `conflict` when there is one of that name (KEY-5). */
export async function createProjectSecret(
  ctx: Context,
  project: string,
  input: z.output<typeof createSecretSchema>,
): Promise<SecretView> {
  const { id: projectId } = await operatorProject(ctx, project);
  return createSecret({ ctx, input: { ...input, projectId } });
}

type Named = { readonly name: string; readonly keyName: string };

/** Changes what is given. */
export async function changeProjectSecret(
  ctx: Context,
  { name, keyName }: Named,
  input: z.output<typeof changeSecretSchema>,
): Promise<SecretView> {
  const { id: projectId } = await operatorProject(ctx, name);
  return updateSecret({ ctx, input: { ...input, projectId, keyName } });
}

export async function deleteProjectSecret(ctx: Context, { name, keyName }: Named): Promise<{ readonly id: string }> {
  const { id: projectId } = await operatorProject(ctx, name);
  return deleteSecret({ ctx, input: { projectId, keyName } });
}
