import { join } from "node:path";
import type { IsolationReport } from "@towpath/core/operations/host-isolation/schema";
import { createRunnerClient, type RunnerAddress, runnerAddressFrom, runnerSettings } from "@towpath/runner-api";
import {
  type DriverConfig,
  driverConfigFrom,
  driverSettings,
  findLeftovers,
  type Leftovers,
  testHost,
} from "@towpath/runtime";
import { z } from "zod";
import { findDataDirectory, findIdentity, findRunning, type Identity, type Running } from "../instance/instance.ts";
import { serviceEnvironment } from "../service/installed-service.ts";
import { type Environment, type Flags, type UpOptions, upOptionsOf } from "../up/options.ts";
import { environmentsOf } from "../up/roles.ts";
import { resolvesLocalhostNames, serverUrlOf } from "../up/server-url.ts";
import { reasonOf } from "./finding.ts";
import { environmentOf, flagsOf } from "./running-settings.ts";

/** What the checks start from. */
export type Facts = {
  readonly options: UpOptions;
  /** Settings and other variables as web gets them, without empty ones. Other processes get no more. */
  readonly settings: Environment;
  /** Null: no instance runs on the data directory. */
  readonly running: Running | null;
  /** Whether this is the container of a role that finds the others over a network, with its own settings. */
  readonly isSeparate: boolean;
  /** Address of servers, with `{name}`. */
  readonly serverUrl: string;
  /** Null: the embedded PostgreSQL, which isn't running. */
  readonly database: { readonly url: string; readonly directUrl: string } | null;
  /** Looks at the host at the first call, which takes seconds. */
  readonly host: () => Promise<Host>;
};

export type Host = {
  readonly leftovers: Leftovers;
  /** The runner's report, or of a self-test where none runs. */
  readonly isolation: IsolationReport | { readonly problem: string };
};

/** Own settings of the command are for a change to be tried, and count before those of the instance. */
const isSetting = (name: string) => /^(TOWPATH|GITHUB|DATABASE|UV)_/.test(name);

/**
 * Reads settings as `up` reads them: of the instance that runs, else of the installed service, else of this command.
 *
 * @throws CommandError naming the flag or variable that is wrong
 */
export async function gatherFacts(flags: Flags, environment: Environment): Promise<Facts> {
  const directory = findDataDirectory(flags["data-dir"]);
  const running = findRunning(directory);
  const own = Object.entries(environment).filter(([name, value]) => isSetting(name) && value);
  const base = running === null ? serviceEnvironment() : environmentOf(running.pid);
  const given: Environment = { ...environment, ...base, ...Object.fromEntries(own) };
  const options = upOptionsOf({ ...(running && flagsOf(running.pid)), ...flags, "data-dir": directory }, given);
  const identity = identityOrNull(directory);
  const servedBy = identity?.serversBy ?? ((await resolvesLocalhostNames()) ? "host" : "path");
  const serverUrl = serverUrlOf(options, servedBy);
  const databaseUrl = options.databaseUrl ?? running?.databaseUrl ?? null;
  const database =
    databaseUrl === null ? null : { url: databaseUrl, directUrl: options.directDatabaseUrl ?? databaseUrl };
  const settings = settingsOf({ options, identity, serverUrl, database, environment: given });
  let host: Promise<Host> | null = null;
  const runner = separateRunner(given);
  const look = () => {
    host ??= runner === null ? lookAtHost(settings, options, running) : askSeparate(runner);
    return host;
  };
  return { options, settings, running, isSeparate: runner !== null, serverUrl, database, host: look };
}

function identityOrNull(directory: string): Identity | null {
  try {
    return findIdentity(directory);
  } catch {
    // The check of the secrets reports it.
    return null;
  }
}

type Known = Pick<Facts, "options" | "serverUrl" | "database"> & {
  readonly identity: Identity | null;
  readonly environment: Environment;
};

function settingsOf({ identity, database, environment, ...known }: Known): Environment {
  const { web } = environmentsOf({
    ...known,
    environment,
    identity: identity ?? { secret: "", previousSecrets: [] },
    database: database ?? { url: "", directUrl: "" },
    uv: "uv",
  });
  return Object.fromEntries(Object.entries(web).filter(([, value]) => value !== ""));
}

const runnerTimeoutMs = 5_000;

const none: Leftovers = { shim: null, controlGroups: [], mounts: [] };

async function lookAtHost(settings: Environment, options: UpOptions, running: Running | null): Promise<Host> {
  const parsed = z.object(driverSettings).safeParse(settings);
  if (!parsed.success) {
    const problem = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
    return { leftovers: none, isolation: { problem } };
  }
  let config: DriverConfig;
  try {
    config = driverConfigFrom(parsed.data, settings);
  } catch (error) {
    return { leftovers: none, isolation: { problem: reasonOf(error) } };
  }
  const leftovers = await findLeftovers(config);
  const own: RunnerAddress = { kind: "unix", path: join(options.runDirectory, "runner.sock") };
  return { leftovers, isolation: await orProblem(running === null ? testHost(config) : askRunner(own)) };
}

const orProblem = (isolation: Promise<IsolationReport>): Promise<Host["isolation"]> =>
  isolation.catch((error: unknown) => ({ problem: reasonOf(error) }));

const askSeparate = async (address: RunnerAddress): Promise<Host> => ({
  leftovers: none,
  isolation: await orProblem(askRunner(address)),
});

/** Where a role in a container of its own finds the runner; null where `up` starts it. */
function separateRunner(environment: Environment): RunnerAddress | null {
  const { TOWPATH_SECRET = "", TOWPATH_RUN_DIR = "" } = environment;
  const parsed = z.object(runnerSettings).safeParse(environment);
  if (parsed.data?.TOWPATH_RUNNER_ADDRESS === undefined || TOWPATH_SECRET === "") return null;
  return runnerAddressFrom({ ...parsed.data, TOWPATH_SECRET, TOWPATH_RUN_DIR });
}

async function askRunner(address: RunnerAddress): Promise<IsolationReport> {
  const runner = createRunnerClient(address, { timeoutMs: runnerTimeoutMs });
  return await runner.isolation().finally(() => runner.close());
}
