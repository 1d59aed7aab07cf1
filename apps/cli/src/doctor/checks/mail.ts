import { mailConfigSchema, tryMailServer } from "@towpath/mail";
import { type Check, fix, invalidSettings, notNeeded, ok, reasonOf } from "../finding.ts";

const name = "mail server";

/** Whether the mail server takes the sign-in. */
export const mail: Check = async ({ settings }) => {
  const parsed = mailConfigSchema.safeParse(settings);
  if (!parsed.success) return [invalidSettings(name, parsed)];
  if (parsed.data === null) return [notNeeded(name, "pages show links to copy in place of messages")];
  // Without its password.
  const { host } = new URL(parsed.data.smtpUrl);
  try {
    await tryMailServer(parsed.data);
    return [ok(name, `${host} takes messages`)];
  } catch (error) {
    return [
      fix(name, `${host}: ${reasonOf(error)}`, "Look at TOWPATH_SMTP_URL, and let this machine reach the server."),
    ];
  }
};
