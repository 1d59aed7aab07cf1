import { randomBytes } from "node:crypto";
import type { TowpathInstance } from "../instance/towpath-process.ts";
import { type Deployed, deleteServer, deploy, type Served, setVariables, useServer } from "./deploy.ts";
import type { CorpusServer } from "./server.ts";

/** What came of a server, deployed as often as a user would who does what the diagnosis says. */
export type Tried = {
  readonly deploys: readonly Deployed[];
  /** What a user has to set, and no diagnosis asked for. */
  readonly unasked: readonly string[];
  /** An error: the live server doesn't answer as it should. Null: it isn't live. */
  readonly served: Served | Error | null;
};

const maxDeploys = 5;

/**
 * Deploys the source, or the package without one, with nothing but a name. Where that fails, sets what the diagnosis asks for and the corpus has
 * values for, and deploys again.
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
  let words = server.arguments ?? [];
  const unasked: string[] = [];
  try {
    for (;;) {
      const { live, said } = deploys.at(-1) as Deployed;
      const served = live ? await use(instance, name, server) : null;
      const isServed = served !== null && !(served instanceof Error) && served.tools.length > 0;
      const isDone = isServed || server.fails !== undefined;
      if (isDone || (missing.size === 0 && words.length === 0) || deploys.length >= maxDeploys) {
        return { deploys, unasked, served };
      }
      const asked = [...missing.keys()].filter((key) => said.includes(key));
      const asksForWords = words.length > 0 && /argument/i.test(said);
      const isAsked = asked.length > 0 || asksForWords;
      // A server that is live but wants credentials says so to its callers, not here, or offers nothing.
      if (!isAsked && !live) unasked.push(...missing.keys(), ...words);
      const set = isAsked ? asked : [...missing.keys()];
      await setVariables(instance, name, Object.fromEntries(set.map((key) => [key, missing.get(key) ?? ""])));
      for (const key of set) missing.delete(key);
      const option = asksForWords || !isAsked ? words : [];
      if (option.length > 0) words = [];
      const more = option.length > 0 ? [`--args=${option.join(" ")}`] : [];
      deploys.push(await deploy(instance, name, what, ...(source === null ? [] : ["--rebuild"]), ...more));
    }
  } finally {
    await deleteServer(instance, name);
  }
}

const use = (instance: TowpathInstance, name: string, server: CorpusServer): Promise<Served | Error> =>
  useServer(instance, name, server).catch((error: unknown) => new Error(String(error)));
