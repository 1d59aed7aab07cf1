import { parseArgs } from "node:util";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { bold, CommandError, dim, print } from "../terminal/terminal.ts";

const linkSchema = z.object({ url: z.string(), expiresAt: z.string(), removedSecondFactor: z.boolean() });

/** `towpath reset-password EMAIL`: prints a link with which a person sets a new password, once. */
export async function resetPassword(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { "remove-two-factor": { type: "boolean", default: false }, "data-dir": { type: "string" } },
  });
  const [email, ...more] = positionals;
  if (!email || more.length > 0) throw new CommandError("Name one account: ./towpath reset-password EMAIL");
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const removeSecondFactor = values["remove-two-factor"];
  const body = { email, removeSecondFactor };
  const link = await api.call("POST", "/api/v1/password-resets", linkSchema, { body });
  print(`Send this link to ${email} over a channel you trust. It works once, until ${link.expiresAt}:\n`);
  print(`  ${bold(link.url)}\n`);
  if (link.removedSecondFactor) print("Two-factor sign-in is off for this account.");
  else if (removeSecondFactor) print("Two-factor sign-in was already off.");
  else print(dim("If the device for two-factor sign-in is lost too, add --remove-two-factor."));
  return 0;
}
