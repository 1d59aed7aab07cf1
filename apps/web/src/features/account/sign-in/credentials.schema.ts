import { z } from "zod";

export const email = z
  .string({ error: "Email is required" })
  .trim()
  .min(1, { error: "Email is required", abort: true })
  .max(254, { error: "Email is too long", abort: true })
  .pipe(z.email("That does not look like an email address"));

const personName = (label: string) =>
  z
    .string({ error: `${label} is required` })
    .trim()
    .min(1, { error: `${label} is required`, abort: true })
    .max(100, `${label} must be 100 characters or less`);

export const newPassword = z
  .string({ error: "Password is required" })
  .min(10, "Password must be at least 10 characters long")
  .max(128, "Password must be 128 characters or less");

export const signInSchema = z.object({
  email,
  password: z.string({ error: "Password is required" }).min(1, "Password is required").max(128, "Password is too long"),
});

export const signUpSchema = z.object({
  firstName: personName("First name"),
  lastName: personName("Last name"),
  email,
  password: newPassword,
});

/** A typed code, possibly with the spaces that authenticator apps show. */
const codeText = z
  .string({ error: "Enter the code" })
  .transform((typed) => typed.replace(/\s/g, ""))
  .pipe(z.string().min(1, "Enter the code"));

/** A code of an authenticator app. */
export const appCode = codeText.pipe(z.string().regex(/^\d{6}$/, "The code has 6 digits"));

/** A recovery code, such as `a1B2c-D3e4F`, with or without its hyphen. */
const recoveryCode = codeText
  .transform((typed) => typed.replace(/-/g, ""))
  .pipe(z.string().regex(/^[A-Za-z0-9]{10}$/, "A recovery code has 10 letters and digits"))
  .transform((typed) => `${typed.slice(0, 5)}-${typed.slice(5)}`);

export const secondFactorSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("app"), code: appCode }),
  z.object({ kind: z.literal("recovery"), code: recoveryCode }),
]);

export const resetRequestSchema = z.object({ email });

export const resetSchema = z.object({ password: newPassword });

/** The content of a rejected form: values (never the password) and their errors. */
export type RefusedForm = {
  readonly values: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** About the whole form. */
  readonly message: string | null;
};
