// The table of the terminal's commands, for parsing, help and completion. It imports only its own parts, so that
// `--help` and completion start at once.

import { alertCommands } from "./alert-commands.ts";
import { type CommandSpec, common, flag, json, oneOf, path, setting, value } from "./command-spec.ts";
import { errorCommands } from "./error-commands.ts";
import { moveCommands } from "./move-commands.ts";
import { operatorCommands } from "./operator-commands.ts";
import { releaseCommands, replaySetting } from "./release-commands.ts";
import { signInIssuerCommands } from "./sign-in-issuer-commands.ts";
import { workloadCommands } from "./workload-commands.ts";

const whoMayCall = {
  public: flag("anyone can call it"),
  private: flag("members and API keys can call it"),
  auth: oneOf(
    "MODE",
    ["towpath-cloud", "towpath-public", "passthrough"],
    "towpath-cloud, towpath-public or passthrough: see docs/sign-in.md",
  ),
} as const;

const build = {
  entrypoint: value("FILE.py[:OBJECT]", "what starts the server, or the name of a program; empty: each build finds it"),
  args: value("WORDS", "arguments of the program that starts"),
} as const;

const files = {
  requirements: path("FILE", "the requirements file"),
  "root-directory": path("DIR", "the server's directory in a monorepo"),
} as const;

export const commands = {
  up: {
    arguments: "",
    text: "Starts everything on this machine and prints the URL. Ctrl-C stops it.",
    options: {
      "data-dir": path("DIR", "where everything is kept"),
      port: value("PORT", "of the dashboard; 3000"),
      "gateway-port": value("PORT", "of the servers; 8080"),
      domain: value("DOMAIN", "serves it there over HTTPS, with certificates of its own: see docs/https.md"),
    },
    removed: {
      "forge-port": "leave it out, since repositories of the local forge are now at the dashboard's address.",
    },
    examples: ["up", "up --data-dir /srv/towpath --port 8000", "up --domain towpath.example.com"],
    isLocal: true,
  },
  login: {
    arguments: "URL",
    text:
      "Lets this terminal work with an instance elsewhere. Asks for an API key that may manage servers, or reads it from " +
      "stdin or TOWPATH_API_KEY, and keeps both in the user's configuration directory (mode 0600). In CI, set TOWPATH_URL " +
      "and TOWPATH_API_KEY instead.",
    options: { ...json },
    examples: ["login https://towpath.example.com", "login https://towpath.example.com < key.txt"],
  },
  logout: {
    arguments: "",
    text: "Forgets the instance and its key. The key stays valid: revoke it in the dashboard.",
    options: { ...json },
    examples: ["logout"],
  },
  "git-credential": {
    arguments: "OPERATION",
    choices: { 1: ["setup"] },
    text:
      "setup: has git sign in to repositories of the instance as this terminal does, so that git clone and git push ask for " +
      "no password. It changes git's settings of your account, and keeps no key there. get, store and erase are what git runs.",
    options: { ...common },
    examples: ["git-credential setup"],
  },
  deploy: {
    arguments: "SOURCE",
    choices: { 1: "files" },
    text:
      "Deploys a directory, a repository by its Git URL or as OWNER/REPOSITORY of github.com, pypi:PACKAGE[==VERSION] " +
      "as it is on the package index, or the package of a server.json or of registry:NAME, an entry of the MCP registry, " +
      "and follows the build. The name of a server builds its repository or package again. Deploying again changes only the " +
      "settings that you pass.",
    options: {
      name: value("NAME", "the server's name; needed for a directory and a package"),
      branch: value("BRANCH", "of a Git URL: the branch that goes live; else the repository's own default branch"),
      "token-env": value("VARIABLE", "of a private Git URL: the environment variable that holds a token"),
      ...build,
      ...files,
      ...whoMayCall,
      env: {
        ...value("KEY=VALUE", "sets a variable before the build; KEY alone takes it from the environment"),
        multiple: true,
      },
      preview: value("BRANCH", "deploys to a preview of this branch, not to production"),
      message: value("TEXT", "the commit's message"),
      rebuild: flag("builds even if nothing has changed"),
      overwrite: flag("replaces commits that others pushed"),
      follow: setting("of a package: deploys newer versions by itself; --no-follow undoes it"),
      organization: value("SLUG", "the organization, if there are several"),
      ...common,
    },
    examples: [
      "deploy ./my-server --name my-server-one --public",
      "deploy ./my-server --name my-server-one --preview new-tool --message 'Try it'",
      "deploy https://github.com/acme/weather-server --public",
      "deploy pypi:mcp-server-time --name my-time-server",
      "deploy registry:io.github.acme/weather --name my-weather-one",
      "deploy my-server-one --json",
    ],
  },
  list: {
    arguments: "",
    text: "Lists servers with their address and how the newest build ended.",
    options: { organization: value("SLUG", "the organization, if there are several"), ...common },
    examples: ["list", "list --json"],
  },
  status: {
    arguments: "NAME",
    text: "Prints what is live, the newest build and how the server is.",
    options: { ...common },
    examples: ["status my-server-one"],
  },
  open: {
    arguments: "NAME",
    text: "Prints the address of a server's page, and opens it where there is a browser.",
    options: { ...common },
    examples: ["open my-server-one"],
  },
  settings: {
    arguments: "NAME",
    text: "Prints a server's settings, after changing those that you pass.",
    options: {
      ...whoMayCall,
      ...build,
      ...files,
      branch: value(
        "BRANCH",
        "the branch of the repository that goes live; empty: the repository's own default branch",
      ),
      watch: {
        ...value(
          "PATH",
          "pushes build only if they change it: a file, directory or pattern; !PATH excludes; empty: all",
        ),
        multiple: true,
      },
      "fail-on-breaking-changes": flag("a preview's check fails that breaks callers"),
      "allow-breaking-changes": flag("undoes that"),
      ...replaySetting,
      "check-values": value(
        "CALL",
        'the tool that checks callers\' own values, such as `whoami` or `search {"limit": 1}`; empty: none',
      ),
      "keep-data": setting("its /data survives restarts and new versions; --no-keep-data undoes it"),
      follow: setting("of a package: deploys newer versions by itself; --no-follow undoes it"),
      ...common,
    },
    examples: [
      "settings my-server-one",
      "settings my-server-one --private --keep-data",
      "settings my-server-one --branch release",
      "settings my-server-one --watch src --watch 'servers/**/*.py' --watch '!docs'",
    ],
  },
  env: {
    arguments: "NAME [ACTION] [KEY=VALUE …]",
    choices: { 2: ["list", "set", "remove", "check"] },
    text:
      "Lists a server's variables, sets or removes some: ACTION is list, set or remove. `set KEY` reads the value from " +
      "stdin. Values are never printed. A change takes effect with the next deployment. With --mine: your own values of " +
      "variables that are per caller, from your next call on; the server's own check, if it has one, says whether it " +
      "accepts them, also later by ACTION check.",
    options: {
      sensitive: flag("of set: the value can't be read again"),
      "per-caller": setting(
        "of set: each caller enters a value of their own; this one is for builds; --no-per-caller undoes it",
      ),
      mine: flag("your own values, for calls of yours"),
      environment: {
        ...oneOf("ENVIRONMENT", ["production", "preview"], "of set: production or preview; both unless given"),
        multiple: true,
      },
      ...common,
    },
    examples: [
      "env my-server-one",
      "env my-server-one set API_URL=https://api.example.com",
      "env my-server-one set API_KEY --sensitive < key.txt",
      "env my-server-one set GITHUB_TOKEN --per-caller < token.txt",
      "env my-server-one set GITHUB_TOKEN --mine < my-token.txt",
      "env my-server-one check --mine",
      "env my-server-one remove API_URL",
    ],
  },
  "build-states": {
    arguments: "NAME [ACTION] [HOST]",
    choices: { 2: ["show", "set", "remove"], 3: ["gitlab", "gitea", "bitbucket", "github"] },
    text:
      "Shows whether the Git host of a server's Git URL gets the states of builds, sets or removes the token for that: " +
      "ACTION is show, set or remove. `set HOST` reads the token from stdin, or asks for it; HOST is the kind of host.",
    options: { ...common },
    examples: [
      "build-states my-server-one",
      "build-states my-server-one set gitlab < token.txt",
      "build-states my-server-one remove",
    ],
  },
  domains: {
    arguments: "NAME [ACTION] [DOMAIN]",
    choices: { 2: ["list", "add", "check", "remove"] },
    text:
      "Lists domains of its own that lead to a server or portal, with the DNS records that they need and when those were " +
      "seen; adds or removes one, or looks up its records now: ACTION is list, add, check or remove.",
    options: { ...common },
    examples: [
      "domains my-server-one",
      "domains my-server-one add mcp.example.com",
      "domains my-server-one check mcp.example.com",
      "domains my-server-one remove mcp.example.com",
    ],
  },
  ...alertCommands,
  ...workloadCommands,
  ...signInIssuerCommands,
  ...errorCommands,
  logs: {
    arguments: "NAME [QUERY …]",
    text: "Prints the newest requests of a server, its own output (--server) or the log of a build (--build).",
    options: {
      limit: value("N", "how many rows of the request log (100 unless given), or newest lines of a log: 1 to 1000"),
      errors: flag("only requests that failed"),
      follow: flag("keeps printing new lines, until Ctrl-C or the end of the build"),
      server: flag("what the live server prints"),
      build: flag("the log of the newest build; QUERY may be the commit, version or id of another"),
      ...common,
    },
    examples: [
      "logs my-server-one tool:echo --errors",
      "logs my-server-one --server --follow",
      "logs my-server-one --build",
    ],
  },
  inspect: {
    arguments: "NAME",
    text: "Prints the tools, resources and prompts of a server with their arguments.",
    options: { ...common },
    examples: ["inspect my-server-one"],
  },
  call: {
    arguments: "NAME TOOL [KEY=VALUE …]",
    text: "Calls a tool and prints what it answers. A value is JSON if the tool's argument isn't a text.",
    options: { args: value("JSON", "all arguments as one JSON object"), ...common },
    examples: ["call my-server-one echo text=hello", `call my-server-one add --args '{"a": 1, "b": 2}' --json`],
  },
  ...releaseCommands,
  approve: {
    arguments: "NAME [NUMBER] [COMMIT]",
    text: "Lists pull requests from forks; with a number and the commit that you have read, has that commit built.",
    options: { decline: flag("refuses the commit"), ...common },
    examples: ["approve my-server-one", "approve my-server-one 7 1a2b3c4"],
  },
  cancel: {
    arguments: "NAME [BUILD]",
    text: "Ends the newest build that is queued or running, or that of a commit or of a package's version.",
    options: { ...common },
    examples: ["cancel my-server-one"],
  },
  ...moveCommands,
  delete: {
    arguments: "NAME",
    text: "Deletes a server with everything that belongs to it. Asks for its name, unless --yes repeats it.",
    options: { yes: value("NAME", "the name again, for scripts"), ...common },
    examples: ["delete my-server-one", "delete my-server-one --yes my-server-one"],
  },
  ...operatorCommands,
  completion: {
    arguments: "SHELL",
    choices: { 1: ["bash", "zsh", "fish"] },
    text: "Prints the completion for bash, zsh or fish.",
    options: {},
    examples: ["completion bash > ~/.local/share/bash-completion/completions/towpath"],
  },
  version: {
    arguments: "",
    text: "Prints version, commit and schema of this release, as --version does.",
    options: { ...json },
    examples: ["version"],
  },
  help: {
    arguments: "[COMMAND]",
    text: "Prints all commands, or one with its options and examples.",
    options: {},
    examples: ["help deploy"],
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof commands;

/** The same without the types of each. */
export const specs: Readonly<Record<string, CommandSpec>> = { ...commands };
