import { z } from "zod";
import { type Database, timestamp } from "./database.ts";

const accountSchema = z.object({
  id: z.number(),
  login: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  type: z.enum(["User", "Organization"]),
  created_at: z.string(),
});
export type Account = z.infer<typeof accountSchema>;

/** First path segments of the forge's own pages. */
const reservedLogins = new Set(["api", "apps", "assets", "healthz", "internal", "login", "logout", "new", "settings"]);

/** GitHub's rule for logins, and no login that would hide a page of the forge. */
export const loginSchema = z
  .string()
  .trim()
  .min(1, "Choose a name for the account.")
  .regex(
    /^[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}$/i,
    "An account name has up to 39 letters, digits and single hyphens, and starts and ends with a letter or digit.",
  )
  .refine((login) => !reservedLogins.has(login.toLowerCase()), "This name is reserved.");

const blankAsNull = (value: string) => (value === "" ? null : value);

export const newAccountSchema = z.object({
  login: loginSchema,
  name: z
    .string()
    .trim()
    .max(100, "A display name has up to 100 characters.")
    .transform(blankAsNull)
    .nullable()
    .default(null),
  email: z
    .union([z.literal(""), z.email("This is not an email address.")])
    .transform(blankAsNull)
    .nullable()
    .default(null),
  type: z.enum(["User", "Organization"]).default("User"),
});
export type NewAccount = z.infer<typeof newAccountSchema>;

export function findAccount(database: Database, login: string): Account | null {
  return database.get(accountSchema, "SELECT * FROM account WHERE login = ?", login);
}

export function accountById(database: Database, id: number): Account | null {
  return database.get(accountSchema, "SELECT * FROM account WHERE id = ?", id);
}

/** Null if the login is taken. */
export function createAccount(database: Database, input: NewAccount): Account | null {
  const { changes } = database.run(
    "INSERT INTO account (login, name, email, type, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    input.login,
    input.name,
    input.email,
    input.type,
    timestamp(),
  );
  return changes === 0 ? null : findAccount(database, input.login);
}
