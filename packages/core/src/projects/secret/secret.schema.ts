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

/**
 * Of all variables of an environment together, names included. Linux limits a process's arguments and environment to a
 * quarter of its stack's limit, mostly 2 MiB; what searches logs for the values grows with them.
 */
export const maxEnvironmentBytes = 128 * 1024;

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

const secretEnvironmentsSchema = z
  .array(z.enum(secretEnvironments, { error: "Environments are production and preview" }))
  .min(1, "Choose at least one environment")
  .transform((chosen) => secretEnvironments.filter((each) => chosen.includes(each)));

const secretDescriptionSchema = z
  .string()
  .trim()
  .max(500, "Description is too long (max 500 characters)")
  .nullable()
  .transform((text) => text || null);

/** What a variable has in addition to name and value. Absent: unchanged; for a new variable, the defaults. */
const settings = {
  description: secretDescriptionSchema.optional(),
  /** A sensitive value is never shown again. Default: false. */
  sensitive: z.boolean().optional(),
  /** Each caller brings a value of their own; this one is for builds only (CAP-1). Default: false. */
  perCaller: z.boolean().optional(),
  /** Default: both. */
  environments: secretEnvironmentsSchema.optional(),
};

/** A new variable (KEY-5). */
export const createSecretSchema = z.object({
  keyName: secretKeyNameSchema,
  secretValue: secretValueSchema,
  ...settings,
});

/** Without a value, the stored one stays. */
export const updateSecretSchema = z.object({
  keyName: secretKeyNameSchema,
  secretValue: secretValueSchema.optional(),
  ...settings,
});

export const setSecretsSchema = z.object({
  secrets: z
    .array(createSecretSchema)
    .max(maxSecrets, `At most ${maxSecrets} secrets`)
    .refine((list) => new Set(list.map((each) => each.keyName)).size === list.length, {
      error: "Each name can appear only once",
    }),
});

/** Initial secrets of a new project (ONB-5): sensitive, and for production and previews, unless something else is given. */
export const initialSecretsSchema = z
  .array(createSecretSchema)
  .max(maxSecrets, `At most ${maxSecrets} secrets`)
  .refine((list) => new Set(list.map((each) => each.keyName)).size === list.length, {
    error: "Each name can appear only once",
  })
  .default([]);
