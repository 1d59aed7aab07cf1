import { type AuthMode, authModeSchema } from "@towpath/core/projects/project/schema";
import { UsageError } from "../terminal/terminal.ts";

/** Texts of who can call a server. */
export const callers: Readonly<Record<AuthMode, string>> = {
  "towpath-public": "anyone",
  "towpath-cloud": "members of the organization, by API key or sign-in",
  passthrough: "anyone whom the server itself lets in",
};

/** @throws CommandError for an unknown mode, and for two at once */
export function authModeOf(values: {
  auth?: string | undefined;
  public?: boolean | undefined;
  private?: boolean | undefined;
}): AuthMode | undefined {
  const given = [values.auth, values.public, values.private].filter(Boolean);
  if (given.length > 1) throw new UsageError("Pass only one of --auth, --public and --private.");
  if (values.public) return "towpath-public";
  if (values.private) return "towpath-cloud";
  if (values.auth === undefined) return undefined;
  const mode = authModeSchema.safeParse(values.auth);
  if (mode.success) return mode.data;
  throw new UsageError(
    `--auth must be towpath-cloud (members only), towpath-public (anyone) or passthrough (the server decides), not ${values.auth}.`,
  );
}
