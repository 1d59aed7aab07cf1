import { randomBytes } from "node:crypto";
import type { TowpathInstance } from "../instance/towpath-process.ts";
import { type Deployed, deleteServer, deploy, type Served, setVariables, useServer } from "./deploy.ts";
import type { CorpusServer } from "./server.ts";

/** The deploys of a server by a user who follows the diagnoses. */
export type Tried = {
  readonly deploys: readonly Deployed[];
  /** What a user has to set although no diagnosis asked for it. */
  readonly unasked: readonly string[];
  /** An error: the live server doesn't answer as it should. Null: it isn't live. */
  readonly served: Served | Error | null;
};

const maxDeploys = 5;

/**
 * Deploys the source, or the package without one, with nothing but a name. If that fails, sets what the diagnosis asks
 * for and the corpus has values for, and deploys again.
 */
export async function tryServer(
  instance: TowpathInstance,
  server: CorpusServer,
  source: string | null,
): Promise<Tried> {
  const name = `corpus-${randomBytes(4).toString("hex")}`;
  const what = source ?? `pypi:${server.package}`;
  const deploys = [await deploy(instance, name, what)];
  const missing = new Map(Object.entries(server.environment ?? {}));
  let argv = server.arguments ?? [];
  const unasked: string[] = [];
  try {
    for (;;) {
      const { live, output } = deploys.at(-1) as Deployed;
      const served = live ? await use(instance, name, server) : null;
      const isServed = served !== null && !(served instanceof Error) && served.tools.length > 0;
      const isDone = isServed || server.fails !== undefined;
      if (isDone || (missing.size === 0 && argv.length === 0) || deploys.length >= maxDeploys) {
        return { deploys, unasked, served };
      }
      const asked = [...missing.keys()].filter((key) => output.includes(key));
      const asksForArguments = argv.length > 0 && /argument/i.test(output);
      const isAsked = asked.length > 0 || asksForArguments;
      // A live server without its credentials reports that to its callers, or has no tools.
      if (!isAsked && !live) unasked.push(...missing.keys(), ...argv);
      const set = isAsked ? asked : [...missing.keys()];
      await setVariables(instance, name, Object.fromEntries(set.map((key) => [key, missing.get(key) ?? ""])));
      for (const key of set) missing.delete(key);
      const option = asksForArguments || !isAsked ? argv : [];
      if (option.length > 0) argv = [];
      const more = option.length > 0 ? [`--args=${option.join(" ")}`] : [];
      deploys.push(await deploy(instance, name, what, ...(source === null ? [] : ["--rebuild"]), ...more));
    }
  } finally {
    await deleteServer(instance, name);
  }
}

const use = (instance: TowpathInstance, name: string, server: CorpusServer): Promise<Served | Error> =>
  useServer(instance, name, server).catch((error: unknown) => new Error(String(error)));
