import { parentPort, workerData } from "node:worker_threads";
import { BuildFailure } from "./failure.ts";
import { makePlan } from "./plan/plan.ts";
import type { PlanAnswer, PlanFile, PlanRead, PlanRequest } from "./plan-source.ts";
import { gatherFacts, type ReadSource } from "./source/facts.ts";

// The thread that parses a repository's files: see plan-source.ts.

const waiting = new Map<number, (bytes: Uint8Array) => void>();
let asked = 0;
parentPort?.on("message", ({ id, bytes }: PlanFile) => {
  waiting.get(id)?.(bytes);
  waiting.delete(id);
});
const read: ReadSource = (path, maxBytes) => {
  asked += 1;
  const id = asked;
  parentPort?.postMessage({ kind: "read", id, path, maxBytes } satisfies PlanRead);
  return new Promise((resolve) => waiting.set(id, resolve));
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
