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
  | "account.email_change";

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
