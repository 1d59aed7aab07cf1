import { common, oneOf, value } from "./command-spec.ts";

/** What failed in calls, by cause. */
export const errorCommands = {
  errors: {
    arguments: "NAME [ACTION] [ID …]",
    choices: { 2: ["list", "show", "resolve", "ignore", "reopen"] },
    text:
      "Lists the errors of a server: failed calls, grouped by tool, exception and the line of its own code that raised it; " +
      "shows one, or resolves, ignores or reopens some: ACTION is list, show, resolve, ignore or reopen.",
    options: {
      ...common,
      state: oneOf("STATE", ["open", "resolved", "ignored", "all"], "which to list; open unless given"),
      tool: value("TOOL", "only errors of this tool, prompt or resource"),
      search: value("TEXT", "only errors whose title, tool, file or function has this text"),
      sort: oneOf("ORDER", ["lastSeen", "firstSeen", "count"], "latest or most frequent first; lastSeen unless given"),
    },
    examples: [
      "errors my-server-one",
      "errors my-server-one --tool forecast --sort count",
      "errors my-server-one show 0199a000-0000-7000-8000-000000000001",
      "errors my-server-one resolve 0199a000-0000-7000-8000-000000000001",
    ],
  },
} as const;
