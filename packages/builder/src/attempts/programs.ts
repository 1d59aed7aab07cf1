import type { BuildLogSink } from "../contract.ts";
import { endsItself } from "../diagnose/harness.ts";
import type { Failure, Outcome } from "../failure.ts";
import type { InspectedServer, Inspection } from "../inspect/inspect.ts";
import { emptyPassedOver, offersNothing, withOthersTried } from "../inspect/warnings.ts";
import { commandOf } from "../plan/choose-program.ts";
import { noServerStarts } from "../plan/no-server.ts";

/** Programs that may start the server, the likeliest first: others are tried if it starts none. */
export type Programs = {
  readonly server: InspectedServer;
  readonly others: readonly InspectedServer[];
  /** See `Plan`. */
  readonly isGuess: boolean;
};

type FoundServer = { readonly server: InspectedServer; readonly inspection: Inspection };

/**
 * Inspects the first of the programs that starts a server which offers something (BLD-16); if none offers anything, the
 * first that starts one. If none does, fails like the likeliest one, which is the most informative.
 */
export async function tryPrograms(
  { server, others, isGuess }: Programs,
  inspect: (server: InspectedServer) => Promise<Outcome<Inspection>>,
  log: BuildLogSink,
): Promise<Outcome<FoundServer>> {
  const step = (text: string) => log("inspect", "step", text);
  let first: Failure | null = null;
  let empty: FoundServer | null = null;
  let holdsServer = !isGuess;
  const triedInstead: string[] = [];
  const waiting = [server, ...others];
  for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
    // If a server only lacks arguments, no other program can start it, except the same one with arguments.
    if (lacksArguments(first) && each.program.arguments.length === 0) continue;
    const command = commandOf(each.program);
    if (first !== null || empty !== null) step(`Trying ${command}.`);
    if (empty !== null) triedInstead.push(command);
    const outcome = await inspect(each);
    if (outcome.ok) {
      const found = { server: each, inspection: outcome.value };
      if (!offersNothing(found.inspection))
        return { ok: true, value: empty === null ? found : insteadOf(empty, found) };
      if (waiting.length > 0) step(`${command} answers, but offers nothing.`);
      empty ??= found;
      continue;
    }
    const { failure } = outcome;
    const { code, title, detail, action } = failure.diagnosis;
    if (empty === null) {
      if (!startsNoServer(failure) && !lacksArguments(failure))
        return { ok: false, failure: first === null || needsVariable(first, failure) ? failure : first };
      if (first === null) waiting.push(...withCommands(server, failure));
      first ??= failure;
      holdsServer ||= code !== "object_missing" || action.kind === "entrypoint";
    }
    if (empty !== null || waiting.length > 0) step(`${title}. ${detail}`);
  }
  if (empty !== null) return { ok: true, value: warning(empty, triedInstead) };
  if (first !== null && holdsServer) return { ok: false, failure: first };
  const files = [server, ...others].map(({ entryFile }) => entryFile);
  return { ok: false, failure: { diagnosis: noServerStarts(files), status: null } };
}

const withoutServer: ReadonlySet<string> = new Set([
  "exited_early",
  "object_missing",
  "unsupported_object",
  "entrypoint_not_found",
]);

/** Whether the program is the wrong one, rather than broken. One that exits by itself may be right, and says why. */
const startsNoServer = ({ diagnosis, status }: Failure): boolean =>
  withoutServer.has(diagnosis.code) && !(status !== null && endsItself(status));

/** Whether the program was only started with too few arguments. */
const lacksArguments = (failure: Failure | null): boolean => failure?.diagnosis.code === "arguments_missing";

/** Whether a program that only lacked arguments now gets far enough to need a variable. */
const needsVariable = (first: Failure, again: Failure): boolean =>
  lacksArguments(first) && again.diagnosis.code === "variable_missing";

/** Names of commands that start a server, the likeliest first. */
const startingCommands = [
  "serve",
  "server",
  "start",
  "stdio",
  "mcp",
  "mcp-server",
  "serve-mcp",
  "start-mcp-server",
  "start-server",
  "run-server",
  "run",
];
const maxCommands = 2;

/** The same program with commands that may start its server; none if it has arguments already. */
function withCommands(server: InspectedServer, { status }: Failure): readonly InspectedServer[] {
  if (server.program.arguments.length > 0 || status?.code !== "arguments_missing") return [];
  const commands = startingCommands.filter((each) => status.candidates.includes(each)).slice(0, maxCommands);
  return commands.map((each) => ({ ...server, program: { ...server.program, arguments: [each] } }));
}

function insteadOf(empty: FoundServer, { server, inspection }: FoundServer): FoundServer {
  const warning = emptyPassedOver(empty.server.program, server.program);
  return { server, inspection: { ...inspection, warnings: [warning, ...inspection.warnings] } };
}

const warning = ({ server, inspection }: FoundServer, tried: readonly string[]): FoundServer => ({
  server,
  inspection: { ...inspection, warnings: inspection.warnings.map((each) => withOthersTried(each, tried)) },
});
