import type { BuildPhase, BuildWarning, Diagnosis, Program } from "@towpath/core/build/contract";
import { argumentsText } from "@towpath/core/project/schema";
import type { BuildLogSink } from "../contract.ts";
import { BuildFailure, changeSettings, diagnosis } from "../failure.ts";
import type { Pin } from "../plan/requirements-file.ts";
import type { InspectedServer, Inspection } from "./inspect.ts";
import { emptyPassedOver, offersNothing, withOthersTried } from "./warnings.ts";

const withoutServer: ReadonlySet<string> = new Set([
  ...["exited_early", "object_missing", "unsupported_object", "entrypoint_not_found"],
]);

/** Whether the program is the wrong one, rather than broken. */
const startsNoServer = (error: unknown): error is BuildFailure =>
  error instanceof BuildFailure && withoutServer.has(error.diagnosis.code) && !error.saysWhy;

/** Whether the program was only started with too few arguments. */
const lacksArguments = (error: unknown): error is BuildFailure =>
  error instanceof BuildFailure && error.diagnosis.code === "arguments_missing";

/** Whether a program that only lacked arguments has got so far with them that it asks for a variable. */
const isBeyond = (first: BuildFailure | null, error: unknown): boolean =>
  lacksArguments(first) && error instanceof BuildFailure && error.diagnosis.code === "variable_missing";

/** As in a terminal. */
export const commandOf = (program: Program): string =>
  [program.entrypoint, argumentsText(program.arguments)].join(" ").trim();

/** What may start the server, the likeliest first: others are tried if it starts none. */
export type Programs = {
  readonly server: InspectedServer;
  readonly others: readonly InspectedServer[];
  /** See `Plan`. */
  readonly isGuess: boolean;
};

export type FoundServer = { readonly server: InspectedServer; readonly inspection: Inspection };

type Trying = {
  readonly inspect: (server: InspectedServer) => Promise<Inspection>;
  readonly log: BuildLogSink;
  /** Of the first program, where that was inspected already. */
  readonly first?: Inspection;
};

/**
 * Inspects the first of the programs that starts a server which offers something (BLD-16); if none offers anything, the
 * first that starts one.
 * @throws BuildFailure of the likeliest one, whose reason says most, if none does
 */
export async function tryPrograms(
  { server, others, isGuess }: Programs,
  { inspect, log, first: known }: Trying,
): Promise<FoundServer> {
  let first: BuildFailure | null = null;
  let empty: FoundServer | null = null;
  let holdsServer = !isGuess;
  const tried: string[] = [];
  const waiting = [server, ...others];
  for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
    // Nothing else starts a server that only lacks arguments, except the same with them.
    if (lacksArguments(first) && each.program.arguments.length === 0) continue;
    const command = commandOf(each.program);
    if (first !== null || empty !== null) log("inspect", "step", `Trying ${command}.`);
    if (empty !== null) tried.push(code(command));
    try {
      const inspection = each === server && known !== undefined ? known : await inspect(each);
      const found = { server: each, inspection };
      if (!offersNothing(inspection)) return empty === null ? found : insteadOf(empty, found);
      if (waiting.length > 0) log("inspect", "step", `${command} answers, but offers nothing.`);
      empty ??= found;
    } catch (error) {
      if (empty !== null && error instanceof BuildFailure) {
        log("inspect", "step", `${error.diagnosis.title}. ${error.diagnosis.detail}`);
        continue;
      }
      if (!startsNoServer(error) && !lacksArguments(error)) throw isBeyond(first, error) ? error : (first ?? error);
      if (first === null) waiting.push(...withCommands(server, error));
      first ??= error;
      const { diagnosis: failure } = error;
      holdsServer ||= failure.code !== "object_missing" || failure.action.kind === "entrypoint";
      if (waiting.length > 0) log("inspect", "step", `${error.diagnosis.title}. ${error.diagnosis.detail}`);
    }
  }
  if (empty !== null) return withWarnings(empty, (warning) => withOthersTried(warning, tried));
  throw holdsServer ? first : new BuildFailure(noServer([server, ...others]), first);
}

const code = (text: string) => `\`${text}\``;

function insteadOf(empty: FoundServer, found: FoundServer): FoundServer {
  const warning = emptyPassedOver(empty.server.program, found.server.program);
  return { ...found, inspection: { ...found.inspection, warnings: [warning, ...found.inspection.warnings] } };
}

const withWarnings = (
  { server, inspection }: FoundServer,
  change: (warning: BuildWarning) => BuildWarning,
): FoundServer => ({ server, inspection: { ...inspection, warnings: inspection.warnings.map(change) } });

const maxCommands = 2;

/** The same program with a command by which it may start its server; none where it got arguments already. */
const withCommands = (server: InspectedServer, { commands }: BuildFailure): readonly InspectedServer[] =>
  server.program.arguments.length > 0
    ? []
    : commands.slice(0, maxCommands).map((each) => ({ ...server, program: { ...server.program, arguments: [each] } }));

/** For files that were tried for their names only, and in which nothing is a server. */
function noServer(tried: readonly InspectedServer[]): Diagnosis {
  const names = tried.map(({ entryFile }) => `\`${entryFile}\``).join(", ");
  return nothingStarts(
    "inspect",
    `${names} ${tried.length === 1 ? "was" : "were"} tried as the likeliest by name, and start none. It may be a library, or for another use of MCP.`,
  );
}

/** For a repository that has nothing to do with MCP, of which nothing needs to be installed to know that. */
export const withoutMcp: Diagnosis = nothingStarts(
  "install",
  "No Python file mentions MCP, and no package that it requires is for it, so nothing was installed.",
);

/** For a package of the index, of which nothing else needs to be installed to know that. */
export const noServerIn = ({ name, version }: Pin, lacks: "program" | "mcp"): Diagnosis =>
  diagnosis({
    code: "entrypoint_not_found",
    phase: "install",
    title:
      lacks === "program"
        ? `The package ${name} has nothing that can be started`
        : `The package ${name} is no MCP server`,
    detail:
      lacks === "program"
        ? `${name} ${version} has no console script, and no package with a \`__main__\`: it may be a library. So what it requires wasn't installed.`
        : `No file of ${name} ${version} mentions MCP, and no package that it requires is for it, so they weren't installed.`,
    remedy: "Set the entrypoint under Settings → Build to what starts a server, if there is one.",
    action: changeSettings("build"),
  });

function nothingStarts(phase: BuildPhase, why: string): Diagnosis {
  return diagnosis({
    code: "entrypoint_not_found",
    phase,
    title: "No server was found in the repository",
    detail: `It has no fastmcp.json, console script or package with a __main__.py for one, and no file that defines one. ${why}`,
    remedy:
      "If there is a server, set the entrypoint under Settings → Build to what starts it, then rebuild. A library has none: deploy a server that uses it.",
    action: changeSettings("build"),
  });
}
