import { once } from "node:events";
import { MessageChannel, parentPort, workerData } from "node:worker_threads";
import { BuildFailure } from "./failure.ts";
import { makePlan } from "./plan/plan.ts";
import type { PlanAnswer, PlanRead, PlanRequest } from "./plan-source.ts";
import { gatherFacts, type ReadSource } from "./source/facts.ts";

// The thread that parses a repository's files: see plan-source.ts.

const read: ReadSource = async (path, maxBytes) => {
  const { port1, port2 } = new MessageChannel();
  parentPort?.postMessage({ kind: "read", path, maxBytes, port: port2 } satisfies PlanRead, [port2]);
  const [bytes] = await once(port1, "message");
  port1.close();
  return bytes;
};

async function answer({ source, settings }: PlanRequest): Promise<PlanAnswer> {
  try {
    return { kind: "plan", plan: makePlan(await gatherFacts(source, settings, read), settings) };
  } catch (error) {
    if (error instanceof BuildFailure) return { kind: "failed", diagnosis: error.diagnosis };
    return { kind: "error", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.postMessage(await answer(workerData as PlanRequest));
