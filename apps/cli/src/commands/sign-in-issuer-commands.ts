import { type CommandSpec, common, flag, value } from "./command-spec.ts";

/** Whose identity assertions let members in. Part of the table of commands. */
export const signInIssuerCommands = {
  "sign-in-issuers": {
    arguments: "[ACTION] [ID]",
    choices: { 1: ["list", "add", "remove"] },
    text:
      "Lists the organization's identity providers whose assertions (ID-JAG) let members in without a sign-in (see " +
      "docs/sign-in.md). Adds one, or removes one by its id: ACTION is list, add or remove.",
    options: {
      name: value("NAME", "of add: what to call it"),
      issuer: value("URL", "of add: the claim iss of its assertions"),
      "match-email": flag("of add: also find members by their verified email address"),
      organization: value("SLUG", "the organization, if there are several"),
      ...common,
    },
    examples: [
      "sign-in-issuers",
      "sign-in-issuers add --name Okta --issuer https://example.okta.com",
      "sign-in-issuers remove 0198f6a0-0000-7000-8000-000000000000",
    ],
  },
} as const satisfies Record<string, CommandSpec>;
