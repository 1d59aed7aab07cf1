import type { Program } from "@towpath/core/build/contract";
import { argumentsText } from "@towpath/core/project/schema";
import type { BuildLogSink } from "../contract.ts";
import { BuildFailure } from "../failure.ts";
import type { InspectedServer, Inspection } from "./inspect.ts";

const withoutServer: ReadonlySet<string> = new Set([
  ...["exited_early", "object_missing", "unsupported_object", "entrypoint_not_found"],
]);

/** Whether the program is the wrong one, rather than broken. */
const startsNoServer = (error: unknown): error is BuildFailure =>
  error instanceof BuildFailure && withoutServer.has(error.diagnosis.code) && !error.saysWhy;

/** As in a terminal. */
export const commandOf = (program: Program): string =>
  [program.entrypoint, argumentsText(program.arguments)].join(" ").trim();

/** What may start the server, the likeliest first: others are tried if it starts none. */
export type Programs = { readonly server: InspectedServer; readonly others: readonly InspectedServer[] };

export type FoundServer = { readonly server: InspectedServer; readonly inspection: Inspection };

/**
 * Inspects the first of the programs that starts a server (BLD-16).
 * @throws BuildFailure of the likeliest one, whose reason says most, if none does
 */
export async function tryPrograms(
  { server, others }: Programs,
  inspect: (server: InspectedServer) => Promise<Inspection>,
  log: BuildLogSink,
): Promise<FoundServer> {
  let first: BuildFailure | null = null;
  for (const each of [server, ...others]) {
    if (first !== null) log("inspect", "step", `Trying ${commandOf(each.program)}.`);
    try {
      return { server: each, inspection: await inspect(each) };
    } catch (error) {
      if (!startsNoServer(error)) throw first ?? error;
      first ??= error;
      if (others.length > 0) log("inspect", "step", `${error.diagnosis.title}. ${error.diagnosis.detail}`);
    }
  }
  throw first;
}
