import { type CommandSpec, common, flag, oneOf, value } from "./command-spec.ts";

/** How versions get into production. Part of the table of commands. */
export const releaseCommands = {
  rollback: {
    arguments: "NAME",
    text: "Makes the version before, or the one of a commit or of a package's version, live again. Nothing is built.",
    options: {
      to: value("VERSION", "the commit, or its first four characters or more; of a package, its version"),
      branch: value("BRANCH", "of a preview, not of production"),
      ...common,
    },
    examples: ["rollback my-server-one", "rollback my-server-one --to 1a2b3c4"],
  },
  promote: {
    arguments: "NAME BRANCH",
    text: "Puts the preview of a branch into production as it is, with production's variables.",
    options: {
      commit: value("COMMIT", "an earlier version of the preview"),
      gradually: flag("a share of new sessions first, then more (towpath release shows how far)"),
      ...common,
    },
    examples: ["promote my-server-one new-tool", "promote my-server-one new-tool --gradually"],
  },
  replay: {
    arguments: "NAME BRANCH",
    text:
      "Shows how the live preview of a branch answered calls of production, beside production, and what became different, and " +
      "which tools a model chose for the saved questions; waits while it is found out. Exits with 1 where answers or choices " +
      "are different.",
    options: { again: flag("replays them again first"), ...common },
    examples: ["replay my-server-one new-tool", "replay my-server-one new-tool --again"],
  },
  release: {
    arguments: "NAME [ACTION]",
    choices: { 2: ["show", "next", "finish", "back", "approve", "reject", "settings"] },
    text:
      "Shows the gradual release of a server with both versions' figures; moves it to its next step, to its end or back; " +
      "approves or rejects the version that waits for production. `settings` shows or changes how it is released. ACTION " +
      "is show, next, finish, back, approve, reject or settings.",
    options: {
      gradually: oneOf("CHOICE", ["on", "off"], "of settings: whether pushes are released gradually"),
      minutes: value("N", "of settings: how long a step lasts at least"),
      calls: value("N", "of settings: calls of the new version before a step ends"),
      errors: value("POINTS", "of settings: percentage points of errors that the new version may have more"),
      latency: value("FACTOR", "of settings: how many times the live version's p95 latency the new one's may be"),
      approval: oneOf("ROLE", ["nobody", "admin", "owner"], "of settings: who approves versions for production"),
      ...common,
    },
    examples: [
      "release my-server-one",
      "release my-server-one back",
      "release my-server-one settings --gradually on --minutes 30",
    ],
  },
} as const satisfies Record<string, CommandSpec>;

/** Of `settings`: how calls of production are replayed on previews, and what a model is asked. */
export const replaySetting = {
  replay: oneOf(
    "CHOICE",
    ["on", "required", "off"],
    "samples production's calls and replays them on previews; `required`: a check fails where answers are different",
  ),
  "replay-tool": {
    ...value("TOOL", "a tool that is replayed although it isn't marked as read-only; empty: none"),
    multiple: true,
  },
  questions: oneOf(
    "CHOICE",
    ["on", "off"],
    "asks a model the saved questions with the tools of previews and production",
  ),
  question: {
    ...value("TEXT", "a question to a model; those that are passed replace the saved ones; empty: none"),
    multiple: true,
  },
} as const;
