import { type CommandSpec, common, value } from "./command-spec.ts";

/** Where alerts are sent. Part of the table of commands. */
export const alertCommands = {
  alerts: {
    arguments: "[ACTION] [CHANNEL]",
    choices: { 1: ["list", "deliveries", "test"] },
    text:
      "Lists the channels of the organization's alerts, or the newest messages with how sending them went; sends a test to " +
      "a channel, by name or id, and prints what it answers: ACTION is list, deliveries or test.",
    options: { organization: value("SLUG", "the organization, if there are several"), ...common },
    examples: ["alerts", "alerts deliveries", "alerts test 'On call'"],
  },
} as const satisfies Record<string, CommandSpec>;
