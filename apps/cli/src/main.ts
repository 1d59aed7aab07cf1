import { asCommandError, print, printError, red } from "./terminal/terminal.ts";

const usage = `Towpath: from a Python MCP server in a Git repository to a live endpoint.

  ./towpath up [--data-dir DIR] [--port 3000] [--gateway-port 8080] [--forge-port 8090]
      Starts everything on this machine and prints the URL. Ctrl-C stops it.
  ./towpath deploy DIR --name NAME [--entrypoint FILE.py[:OBJECT] | PROGRAM] [--args="WORDS"] [--requirements FILE]
                   [--root-directory DIR] [--public | --private | --auth passthrough] [--rebuild] [--overwrite]
                   [--organization SLUG] [--data-dir DIR]
      Deploys a directory to the running instance and follows the build, which finds what starts the server unless
      --entrypoint names it. Deploying again changes only the settings that
      you pass. An unchanged directory is built only with --rebuild; commits that others pushed are replaced only with
      --overwrite.
  ./towpath deploy pypi:PACKAGE[==VERSION] --name NAME [--follow] [--entrypoint PROGRAM] [--args="WORDS"]
                   [--public | --private | --auth passthrough] [--organization SLUG] [--data-dir DIR]
      Deploys a package of the index as it is, by default its newest version; --follow deploys newer ones by itself.
  ./towpath settings NAME [--public | --private | --auth passthrough] [--entrypoint FILE.py[:OBJECT] | PROGRAM]
                     [--args="WORDS"] [--requirements FILE] [--root-directory DIR]
                     [--fail-on-breaking-changes | --allow-breaking-changes]
                     [--keep-data | --no-keep-data] [--data-dir DIR]
      Prints a server's settings, after changing those that you pass. Who can call it: anyone (--public), members and API
      keys (--private), or whom the server's own sign-in lets in (--auth passthrough): see docs/sign-in.md. --keep-data:
      its directory /data survives restarts and redeploys.
  ./towpath rollback NAME [--to COMMIT] [--branch BRANCH] [--data-dir DIR]
      Makes the version before, or the one of a commit, live again. Nothing is built.
  ./towpath promote NAME BRANCH [--commit COMMIT] [--data-dir DIR]
      Puts the preview of a branch into production as it is, with production's variables, once its server answers.
  ./towpath approve NAME [NUMBER COMMIT [--decline]] [--data-dir DIR]
      Lists pull requests from forks; with a number and the commit that you have read, has that commit built.
  ./towpath logs NAME [QUERY] [--json] [--limit N] [--errors] [--data-dir DIR]
      Prints the newest requests of a server.
  ./towpath reset-password EMAIL [--remove-two-factor] [--data-dir DIR]
      Prints a link with which a person sets a new password, and turns their two-factor sign-in off if their device is
      lost too.
  ./towpath rotate-secrets [--finish] [--data-dir DIR]
      Replaces the secret that encrypts stored variables, in two steps: see "Keys" in docs/operating.md.
  ./towpath test [STAGE …]
      Runs every test, or the named stages. Some run only when they are named, such as chaos and corpus. After corpus,
      names of published packages may follow: only these are tried.
  ./towpath help
`;

type Command = (args: string[]) => Promise<number>;

const commands: Record<string, () => Promise<Command>> = {
  up: async () => (await import("./up/up.ts")).up,
  deploy: async () => (await import("./deploy/choose-source.ts")).deploy,
  settings: async () => (await import("./settings/settings.ts")).settings,
  rollback: async () => (await import("./deployments/rollback.ts")).rollback,
  promote: async () => (await import("./deployments/promote.ts")).promote,
  approve: async () => (await import("./deployments/approve.ts")).approve,
  logs: async () => (await import("./logs/logs.ts")).logs,
  "reset-password": async () => (await import("./reset-password/reset-password.ts")).resetPassword,
  "rotate-secrets": async () => (await import("./rotate-secrets/rotate-secrets.ts")).rotateSecrets,
  test: async () => (await import("./test/test.ts")).test,
};

async function main(): Promise<number> {
  const [name = "help", ...args] = process.argv.slice(2);
  if (["help", "--help", "-h"].includes(name) || args.includes("--help")) {
    print(usage);
    return 0;
  }
  const load = commands[name];
  if (!load) {
    printError(`${red("There is no command")} ${name}.\n\n${usage}`);
    return 2;
  }
  try {
    return await (await load())(args);
  } catch (error) {
    printError(`\n${red("✗")} ${asCommandError(error).message}`);
    return 1;
  }
}

// Exit by hand: a stray handle must not keep a finished command alive.
process.exit(await main());
