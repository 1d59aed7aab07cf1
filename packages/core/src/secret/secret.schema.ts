import { z } from "zod";

/** VAL-4. Reports only the first problem of a name. */
export const secretKeyNameSchema = z
  .string({ error: "Key name is required" })
  .min(1, { error: "Key name is required", abort: true })
  .max(255, { error: "Key name is too long (max 255 characters)", abort: true })
  .regex(/^[A-Z_][A-Z0-9_]*$/, {
    error: "Key name must start with a letter or underscore and use only A-Z, 0-9, _",
    abort: true,
  })
  .refine((name) => !name.startsWith("TOWPATH_CLOUD_"), {
    error: "Key name cannot start with TOWPATH_CLOUD_ (reserved)",
  });

/** Bytes in UTF-8. Linux starts no process with an environment variable of 128 KiB, its name included. */
const maxSecretBytes = 64 * 1024;

/** A process's environment can't contain NUL. */
export const secretValueSchema = z
  .string({ error: "Secret value is required" })
  .min(1, { error: "Secret value is required", abort: true })
  .refine((value) => new TextEncoder().encode(value).length <= maxSecretBytes, {
    error: `Secret value is too long (max ${maxSecretBytes / 1024} KiB)`,
    abort: true,
  })
  .refine((value) => !value.includes("\u0000"), { error: "Secret value cannot contain a NUL character" });

/** Maximum number of secrets per project. */
export const maxSecrets = 100;

export const secretEnvironments = ["production", "preview"] as const;
export type SecretEnvironment = (typeof secretEnvironments)[number];

export const setSecretSchema = z.object({
  keyName: secretKeyNameSchema,
  secretValue: secretValueSchema,
  /** Default: both environments for a new secret, and the same as before for a replaced one. */
  environments: z
    .array(z.enum(secretEnvironments, { error: "Environments are production and preview" }))
    .min(1, "Choose at least one environment")
    .transform((chosen) => secretEnvironments.filter((each) => chosen.includes(each)))
    .optional(),
});
type OfProject = { readonly orgSlug: string; readonly projectName: string };
export type SetSecretInput = z.input<typeof setSecretSchema> & OfProject;

export const setSecretsSchema = z.object({
  secrets: z
    .array(setSecretSchema)
    .max(maxSecrets, `At most ${maxSecrets} secrets`)
    .refine((list) => new Set(list.map((each) => each.keyName)).size === list.length, {
      error: "Each variable can be given once",
    }),
});
export type SetSecretsInput = z.input<typeof setSecretsSchema> & OfProject;

/** Initial secrets of a new project (ONB-5), for production and previews. */
export const initialSecretsSchema = z
  .array(z.object({ keyName: secretKeyNameSchema, secretValue: secretValueSchema }))
  .max(maxSecrets, `At most ${maxSecrets} secrets`)
  .refine((list) => new Set(list.map((each) => each.keyName)).size === list.length, {
    error: "Each variable can be given once",
  })
  .default([]);
