import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { openApi } from "../instance/api.ts";
import { findDataDirectory } from "../instance/instance.ts";
import { bold, dim, output, print } from "../terminal/terminal.ts";
import { localTime } from "../terminal/time.ts";

const linkSchema = z.object({ url: z.string(), expiresAt: z.string(), removedSecondFactor: z.boolean() });

/** `towpath reset-password EMAIL`: prints a link that sets a new password, once. */
export async function resetPassword(args: string[]): Promise<number> {
  const { values, positionals } = parse("reset-password", args);
  const [email = ""] = positionals;
  const api = openApi(findDataDirectory(values["data-dir"]));
  const removeSecondFactor = values["remove-two-factor"] ?? false;
  const body = { email, removeSecondFactor };
  const link = await api.call("POST", "/api/v1/password-resets", linkSchema, { body });
  output(link, () => printLink(email, link, removeSecondFactor));
  return 0;
}

function printLink(email: string, link: z.infer<typeof linkSchema>, removeSecondFactor: boolean): void {
  print(`Send this link to ${email} over a channel you trust. It works once, until ${localTime(link.expiresAt)}:\n`);
  print(`  ${bold(link.url)}\n`);
  if (link.removedSecondFactor) print("Two-factor sign-in is off for this account.");
  else if (removeSecondFactor) print("Two-factor sign-in was already off.");
  else print(dim("If the device for two-factor sign-in is lost too, add --remove-two-factor."));
}
