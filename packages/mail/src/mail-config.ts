import { z } from "zod";

export type MailConfig = {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. */
  readonly smtpUrl: string;
  /** `Towpath <no-reply@example.com>`, or only the address. */
  readonly from: string;
};

const address = z.email();
const addressOf = (from: string) => /^[^<>]*<([^<>]+)>$/.exec(from)?.[1]?.trim() ?? from;

/** The settings of mail, of an environment without empty values: both or none. Null: this instance sends no mail. */
export const mailConfigSchema = z
  .object({
    TOWPATH_SMTP_URL: z
      .string()
      .refine((url) => /^smtps?:\/\/[^/]/.test(url) && URL.canParse(url), "must be a URL with smtp: or smtps:")
      .optional(),
    TOWPATH_MAIL_FROM: z
      .string()
      .refine(
        (from) => address.safeParse(addressOf(from)).success,
        "must be an address, such as Towpath <mail@example.com>",
      )
      .optional(),
  })
  .superRefine((values, problems) => {
    for (const [key, other] of [
      ["TOWPATH_SMTP_URL", "TOWPATH_MAIL_FROM"],
      ["TOWPATH_MAIL_FROM", "TOWPATH_SMTP_URL"],
    ] as const) {
      if (values[key] !== undefined || values[other] === undefined) continue;
      problems.addIssue({ code: "custom", path: [key], message: `is missing, and ${other} is set` });
    }
  })
  .transform((values): MailConfig | null =>
    values.TOWPATH_SMTP_URL && values.TOWPATH_MAIL_FROM
      ? { smtpUrl: values.TOWPATH_SMTP_URL, from: values.TOWPATH_MAIL_FROM }
      : null,
  );
