import { type Profiler, Session } from "node:inspector/promises";

/** Which part of the gateway a source file belongs to; null: none of ours. By the first pattern that matches its path. */
const partsOfFiles: readonly (readonly [RegExp, string])[] = [
  [/\/packages\/mcp\//, "reading messages (JSON, events)"],
  [/\/gateway\/src\/record\/|\/packages\/secrets\//, "record: rows and their file"],
  [/\/packages\/logs\/|\/node_modules\/pg/, "record: the database"],
  [/\/gateway\/src\/limits\/|\/packages\/limits\//, "limits of calls"],
  [/\/gateway\/src\/(?:policy|oauth|platform)\/|\/packages\/auth\//, "policies, metrics"],
  [/\/gateway\/src\/forward\//, "forwarding: lease, headers, answer"],
  [/\/gateway\/src\/(?:route|wire|read-model)\/|\/gateway\/src\/(?:gateway|server)\.ts/, "finding the route"],
  [/\/gateway\/src\//, "steps of a call"],
  [/gateway-own\.main\.ts/, "the benchmark itself"],
];
const collector = "garbage collection";
const rest = "Node's event loop";

/** Shares of the processor time, by part, largest first. They add up to 1. */
export type Parts = readonly (readonly [part: string, share: number])[];

/** Profiles some work. What Node and libraries do counts for the part of the gateway that calls them. */
export async function profiled(work: () => Promise<unknown>): Promise<Parts> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 200 });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return partsOf(profile);
}

function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Parts {
  const parts = new Map<number, string | null>();
  // Callers come before what they call.
  for (const node of nodes) {
    const { functionName, url } = node.callFrame;
    const own = partsOfFiles.find(([pattern]) => pattern.test(url))?.[1];
    const part = functionName === "(garbage collector)" ? collector : (own ?? parts.get(node.id) ?? rest);
    parts.set(node.id, functionName === "(idle)" ? null : part);
    for (const child of node.children ?? []) parts.set(child, part);
  }
  const times = new Map<string, number>();
  samples.forEach((id, at) => {
    const part = parts.get(id) ?? null;
    if (part !== null) times.set(part, (times.get(part) ?? 0) + (timeDeltas[at + 1] ?? 0));
  });
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([part, time]) => [part, time / all] as const).sort((a, b) => b[1] - a[1]);
}
