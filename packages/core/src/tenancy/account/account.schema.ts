import { z } from "zod";

/** Changes of an account, as the audit log names them. */
export type AccountAction =
  | "account.update"
  | "account.password_change"
  | "account.reset_requested"
  | "account.password_reset"
  | "account.two_factor_on"
  | "account.two_factor_off"
  | "account.recovery_codes"
  | "account.session_end"
  | "account.email_requested"
  | "account.email_canceled"
  | "account.email_change"
  | "account.picture"
  | "account.preferences";

/** In which zone and how a person reads times (ORG-4). `timeZone` null: that of their browser. */
export const preferencesSchema = z.object({
  timeZone: z.string().max(64).refine(isTimeZone, "There is no such time zone").nullable(),
  hourCycle: z.enum(["h12", "h23"], { error: "Choose 12 or 24 hours" }),
});
export type Preferences = z.output<typeof preferencesSchema>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const name = (label: string) =>
  z
    .string({ error: `${label} is required` })
    .trim()
    .min(1, { error: `${label} is required`, abort: true })
    .max(100, `${label} must be 100 characters or less`);

export const updateProfileSchema = z.object({
  firstName: name("First name"),
  lastName: name("Last name"),
});
