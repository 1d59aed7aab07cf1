import { z } from "zod";

const email = z
  .string({ error: "Email is required" })
  .trim()
  .min(1, { error: "Email is required", abort: true })
  .max(254, { error: "Email is too long", abort: true })
  .pipe(z.email("That does not look like an email address"));

const name = (label: string) =>
  z
    .string({ error: `${label} is required` })
    .trim()
    .min(1, { error: `${label} is required`, abort: true })
    .max(100, `${label} must be 100 characters or less`);

export const signInSchema = z.object({
  email,
  password: z.string({ error: "Password is required" }).min(1, "Password is required").max(128, "Password is too long"),
});

export const signUpSchema = z.object({
  firstName: name("First name"),
  lastName: name("Last name"),
  email,
  password: z
    .string({ error: "Password is required" })
    .min(10, "Password must be at least 10 characters long")
    .max(128, "Password must be 128 characters or less"),
});

/** What a rejected form shows again: the values (never the password) and their errors. */
export type RefusedForm = {
  readonly values: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** About the whole form. */
  readonly message: string | null;
};
