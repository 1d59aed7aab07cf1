import { Worker } from "node:worker_threads";
import type { Diagnosis } from "@towpath/core/build/contract";
import { BuildFailure, diagnosis } from "../failure.ts";
import type { SourceTree } from "../fetch/index.ts";
import type { PlanSettings, PlanSource } from "./facts.ts";
import type { Plan } from "./plan.ts";

export type PlanQuestion = { readonly source: PlanSource; readonly settings: PlanSettings };
export type PlanAnswer =
  | { readonly kind: "plan"; readonly plan: Plan }
  | { readonly kind: "failed"; readonly diagnosis: Diagnosis }
  /** A bug of Towpath. */
  | { readonly kind: "error"; readonly message: string };

const program = new URL("./plan-worker.ts", import.meta.url);
const maxHeapMiB = 512;

/**
 * Plans a build in its own thread: a file that keeps a parser busy doesn't block other builds.
 * @throws BuildFailure with phase `plan`, also when it takes longer than `timeoutMs` or too much memory;
 * the reason of `signal` when it is aborted
 */
export async function planSource(
  tree: SourceTree,
  settings: PlanSettings,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Plan> {
  signal.throwIfAborted();
  const { directory, digest } = tree;
  const source = { directory, digest, paths: tree.entries.map((entry) => entry.path) };
  const question: PlanQuestion = { source, settings };
  const worker = new Worker(program, {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
    env: {},
  });
  const limit = AbortSignal.timeout(timeoutMs);
  const aborted = AbortSignal.any([signal, limit]);
  const answer = Promise.withResolvers<PlanAnswer>();
  worker.once("message", answer.resolve);
  worker.once("error", (error) => answer.reject(outOfMemory(error) ? unreadable("needs too much memory") : error));
  worker.once("exit", () => answer.reject(new Error("The planning thread ended without an answer.")));
  const onAbort = () =>
    answer.reject(
      signal.aborted ? signal.reason : unreadable(`takes longer than ${Math.round(timeoutMs / 1000)} seconds`),
    );
  aborted.addEventListener("abort", onAbort, { once: true });
  try {
    return planOf(await answer.promise);
  } finally {
    aborted.removeEventListener("abort", onAbort);
    // Also ends a thread that is in the middle of a loop.
    await worker.terminate();
  }
}

function planOf(answer: PlanAnswer): Plan {
  if (answer.kind === "plan") return answer.plan;
  if (answer.kind === "failed") throw new BuildFailure(answer.diagnosis);
  throw new Error(`Planning failed: ${answer.message}`);
}

const outOfMemory = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

const unreadable = (what: string) =>
  new BuildFailure(
    diagnosis({
      code: "invalid_project_file",
      phase: "plan",
      title: "The project's files cannot be read",
      detail: `Reading what pyproject.toml, uv.lock, the requirements, fastmcp.json and the entrypoint's script block say ${what}. They are far larger or more deeply nested than such files are.`,
      remedy: "Make these files smaller, then push again.",
    }),
  );
