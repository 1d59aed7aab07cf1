import { z } from "zod";

const keyNamePattern = /^[A-Z_][A-Z0-9_]*$/;
const maxKeyName = 255;
const reservedPrefix = "TOWPATH_CLOUD_";
const keyNameTexts = {
  missing: "Key name is required",
  long: `Key name is too long (max ${maxKeyName} characters)`,
  pattern: "Key name must start with a letter or underscore and use only A-Z, 0-9, _",
  reserved: `Key name cannot start with ${reservedPrefix} (reserved)`,
};

/** VAL-4. Reports only the first problem of a name. */
export const secretKeyNameSchema = z
  .string({ error: keyNameTexts.missing })
  .min(1, { error: keyNameTexts.missing, abort: true })
  .max(maxKeyName, { error: keyNameTexts.long, abort: true })
  .regex(keyNamePattern, { error: keyNameTexts.pattern, abort: true })
  .refine((name) => !name.startsWith(reservedPrefix), { error: keyNameTexts.reserved });

/** What `secretKeyNameSchema` reports, for forms, which do without zod; null: nothing. */
export function secretKeyNameProblem(name: string): string | null {
  if (name === "") return keyNameTexts.missing;
  if (name.length > maxKeyName) return keyNameTexts.long;
  if (!keyNamePattern.test(name)) return keyNameTexts.pattern;
  return name.startsWith(reservedPrefix) ? keyNameTexts.reserved : null;
}

/** Bytes in UTF-8. Linux starts no process with an environment variable of 128 KiB, its name included. */
const maxSecretBytes = 64 * 1024;

/**
 * Of all variables of an environment together, names included. Linux limits a process's arguments and environment to a
 * quarter of its stack's limit, mostly 2 MiB; what searches logs for the values grows with them.
 */
export const maxEnvironmentBytes = 128 * 1024;

const valueTexts = {
  missing: "Secret value is required",
  long: `Secret value is too long (max ${maxSecretBytes / 1024} KiB)`,
  nul: "Secret value cannot contain a NUL character",
};
const isShort = (value: string) => new TextEncoder().encode(value).length <= maxSecretBytes;

/** A process's environment can't contain NUL. */
export const secretValueSchema = z
  .string({ error: valueTexts.missing })
  .min(1, { error: valueTexts.missing, abort: true })
  .refine(isShort, { error: valueTexts.long, abort: true })
  .refine((value) => !value.includes("\u0000"), { error: valueTexts.nul });

/** What `secretValueSchema` reports, for forms, which do without zod; null: nothing. */
export function secretValueProblem(value: string): string | null {
  if (value === "") return valueTexts.missing;
  if (!isShort(value)) return valueTexts.long;
  return value.includes("\u0000") ? valueTexts.nul : null;
}

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
