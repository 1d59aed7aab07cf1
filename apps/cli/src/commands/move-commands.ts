import { type CommandSpec, common, flag, value } from "./command-spec.ts";

/** Commands that bring a server from one instance to another. */
export const moveCommands = {
  export: {
    arguments: "NAME [TARGET]",
    choices: { 2: "files" },
    text:
      "Writes what is live of a server to a directory, or to a tar if TARGET ends in .tar: code, exact versions, settings, " +
      "tools, its repository's history, and what runs it without Towpath. Its README says how. Values of variables aren't in it.",
    options: {
      "with-variables": flag(
        "on the instance's machine only: writes the values of the live version's variables to a file beside it, which only you can read",
      ),
      ...common,
    },
    examples: [
      "export my-server-one",
      "export my-server-one ./my-server-one.tar",
      "export my-server-one --with-variables",
    ],
  },
  import: {
    arguments: "SOURCE",
    choices: { 1: "files" },
    text:
      "Makes a server of an export, a directory or a tar: with its repository, settings and variables, and deploys it. Asks " +
      "for values of variables that it doesn't have. What is damaged, of a newer release or has a taken name changes nothing.",
    options: {
      name: value("NAME", "the server's name, if not the one that it had"),
      env: {
        ...value("KEY=VALUE", "the value of a variable; KEY alone takes it from the environment"),
        multiple: true,
      },
      "token-env": value("VARIABLE", "of a private Git URL: the environment variable that holds a token"),
      organization: value("SLUG", "the organization, if there are several"),
      ...common,
    },
    examples: ["import ./my-server-one", "import ./my-server-one.tar --name my-server-two --env API_KEY=abc"],
  },
} as const satisfies Record<string, CommandSpec>;
