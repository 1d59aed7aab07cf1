import type { CommandName } from "./commands/table.ts";
import { commands } from "./commands/table.ts";
import { didYouMean } from "./terminal/did-you-mean.ts";
import { asCommandError, output, print, printError, printVerbosely, red, UsageError } from "./terminal/terminal.ts";

type Command = (args: string[]) => Promise<number>;

/** For commands whose modules use the database. */
const withDatabase = (load: () => Promise<Command>) => async () => {
  (await import("@towpath/role")).resolveDrizzleFaster();
  return load();
};

/** Loads the function of each command of the table, on demand. */
const loaders: Record<CommandName, () => Promise<Command>> = {
  up: withDatabase(async () => (await import("./up/up.ts")).up),
  upgrade: withDatabase(async () => (await import("./upgrade/upgrade.ts")).upgrade),
  migrate: withDatabase(async () => (await import("./migrate/migrate.ts")).migrate),
  run: async () => (await import("./run/run.ts")).run,
  login: async () => (await import("./login/login.ts")).login,
  logout: async () => (await import("./login/login.ts")).logout,
  "git-credential": async () => (await import("./git-credential/git-credential.ts")).gitCredential,
  deploy: async () => (await import("./deploy/choose-source.ts")).deploy,
  list: async () => (await import("./servers/list.ts")).list,
  status: async () => (await import("./servers/list.ts")).status,
  open: async () => (await import("./servers/open.ts")).open,
  settings: async () => (await import("./settings/settings.ts")).settings,
  env: async () => (await import("./servers/env.ts")).env,
  "build-states": async () => (await import("./build-states/build-states.ts")).buildStates,
  alerts: async () => (await import("./alerts/alerts.ts")).alerts,
  workloads: async () => (await import("./workloads/workloads.ts")).workloads,
  "sign-in-issuers": async () => (await import("./sign-in-issuers/sign-in-issuers.ts")).signInIssuers,
  domains: async () => (await import("./domains/domains.ts")).domains,
  errors: async () => (await import("./errors/errors.ts")).errors,
  logs: async () => (await import("./logs/logs.ts")).logs,
  inspect: async () => (await import("./servers/inspect.ts")).inspect,
  call: async () => (await import("./servers/call.ts")).call,
  rollback: async () => (await import("./deployments/rollback.ts")).rollback,
  promote: async () => (await import("./deployments/promote.ts")).promote,
  release: async () => (await import("./releases/release.ts")).release,
  replay: async () => (await import("./replay/replay.ts")).replay,
  approve: async () => (await import("./deployments/approve.ts")).approve,
  export: async () => (await import("./export/export-server.ts")).exportServer,
  import: async () => (await import("./export/import-server.ts")).importServer,
  cancel: async () => (await import("./servers/end.ts")).cancel,
  delete: async () => (await import("./servers/end.ts")).remove,
  doctor: withDatabase(async () => (await import("./doctor/doctor.ts")).doctor),
  service: async () => (await import("./service/service.ts")).service,
  github: async () => (await import("./github/github.ts")).github,
  backup: withDatabase(async () => (await import("./backup/backup.ts")).backup),
  restore: withDatabase(async () => (await import("./backup/restore.ts")).restore),
  "reset-password": async () => (await import("./reset-password/reset-password.ts")).resetPassword,
  "rotate-secrets": withDatabase(async () => (await import("./rotate-secrets/rotate-secrets.ts")).rotateSecrets),
  test: async () => (await import("./test/test.ts")).test,
  completion: async () => (await import("./commands/completion.ts")).completion,
  version: async () => version,
  help: async () => help,
};

const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name);

const unknown = (name: string) =>
  new UsageError(`There is no command ${name}.${didYouMean(name, Object.keys(commands))} See towpath help.`);

async function version(args: string[]): Promise<number> {
  const { parse } = await import("./commands/parse.ts");
  parse("version", args);
  const { currentRelease, thisRelease } = await import("@towpath/db/release");
  output(currentRelease(), () => print(thisRelease()));
  return 0;
}

async function help(args: string[]): Promise<number> {
  const { parse } = await import("./commands/parse.ts");
  const [name] = parse("help", args).positionals;
  const { helpOf, overview } = await import("./commands/help.ts");
  const text = name === undefined ? overview() : helpOf(name);
  if (text === null) throw unknown(name ?? "");
  print(text);
  return 0;
}

/** Arguments after `--` are the command's, never ours. */
const asksForHelp = (args: readonly string[]) =>
  args
    .slice(0, args.includes("--") ? args.indexOf("--") : args.length)
    .some((word) => word === "--help" || word === "-h");

/** As of a program that the signal SIGPIPE ended. */
const readerGone = 141;

/**
 * `towpath logs … | head`: once nobody reads, a command ends silently. An instance and a test run continue: their
 * output is not their purpose.
 */
function endWithReader(name: string): void {
  const ignoresReader = name === "up" || name === "test";
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (!ignoresReader) process.exit(readerGone);
    });
  }
}

/** Every command takes `--verbose`. */
function withoutVerbose(argv: readonly string[]): string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  const rest = argv.filter((argument, at) => at >= end || argument !== "--verbose");
  printVerbosely(rest.length < argv.length);
  return rest;
}

/** Prints why a command failed. Returns its exit status. */
function reportFailure(error: unknown): number {
  const failure = asCommandError(error);
  printError(`\n${red("✗")} ${failure.message}`);
  return failure instanceof UsageError ? 2 : 1;
}

// Errors that no command waits for, of a stream or a timer: Node would print their stacks.
process.on("uncaughtException", (error) => process.exit(reportFailure(error)));

/** Node's, if nothing is left to wait for and the command hasn't ended: a fault of ours, which must not be silent. */
const cameToRest = 13;
process.on("exit", (status) => {
  if (status !== cameToRest) return;
  printError(`\n${red("✗")} The command stopped half-way. That is a fault of Towpath: try it again, and report it.`);
});

async function main(): Promise<number> {
  const [name = "help", ...args] = withoutVerbose(process.argv.slice(2));
  endWithReader(name);
  try {
    if (name === "--version" || name === "-v") return await version(args);
    if (name === "--help" || name === "-h") return await help(args);
    if (!isCommand(name)) throw unknown(name);
    if (asksForHelp(args)) return await help([name]);
    return await (await loaders[name]())(args);
  } catch (error) {
    return reportFailure(error);
  }
}

// Exit explicitly: a stray handle must not keep a finished command alive. Output to a pipe is flushed first.
const status = await main();
for (const stream of [process.stdout, process.stderr]) {
  if (stream.writableLength > 0) await new Promise((done) => stream.write("", done));
}
// A closed pipe emits its error after the write.
await new Promise(setImmediate);
process.exit(status);
