import { parentPort, workerData } from "node:worker_threads";
import { BuildFailure } from "./failure.ts";
import { makePlan } from "./plan/plan.ts";
import type { PlanAnswer, PlanRequest } from "./plan-source.ts";
import { gatherFacts } from "./source/facts.ts";

// The thread that parses a repository's files: see plan-source.ts.

async function answer({ source, settings }: PlanRequest): Promise<PlanAnswer> {
  try {
    return { kind: "plan", plan: makePlan(await gatherFacts(source, settings), settings) };
  } catch (error) {
    if (error instanceof BuildFailure) return { kind: "failed", diagnosis: error.diagnosis };
    return { kind: "error", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.postMessage(await answer(workerData as PlanRequest));
