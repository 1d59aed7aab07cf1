import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import { BuildFailure, changeCode, failed } from "./failure.ts";
import type { SourceTree } from "./fetch/source-tree.ts";
import type { Plan } from "./plan/plan.ts";
import type { PlanSettings, PlanSource, ReadSource } from "./source/facts.ts";

export type PlanRequest = { readonly source: PlanSource; readonly settings: PlanSettings };
export type PlanAnswer =
  | { readonly kind: "plan"; readonly plan: Plan }
  | { readonly kind: "failed"; readonly diagnosis: Diagnosis }
  /** A bug in Towpath. */
  | { readonly kind: "error"; readonly message: string };
/** A file that the thread requests, and its content. */
export type PlanRead = {
  readonly kind: "read";
  readonly id: number;
  readonly path: string;
  readonly maxBytes: number;
};
export type PlanFile = { readonly id: number; readonly bytes: Uint8Array };

const program = new URL("./plan-worker.ts", import.meta.url);
const maxHeapMiB = 512;

/**
 * Plans a build in its own thread, so that a file that is slow to parse doesn't block other builds.
 * @throws BuildFailure with phase `plan`, also for too much time or memory; the reason of `signal` when it is aborted
 */
export async function planSource(
  tree: SourceTree,
  settings: PlanSettings,
  { read, timeoutMs, signal }: { readonly read: ReadSource; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Plan> {
  signal.throwIfAborted();
  const { digest, entries, whole, subPath } = tree;
  const source = { digest, entries, subPath, ...(whole && { whole: whole.entries }) };
  const request: PlanRequest = { source, settings };
  const worker = new Worker(program, {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
    env: compileCache(),
  });
  const limit = AbortSignal.timeout(timeoutMs);
  const aborted = AbortSignal.any([signal, limit]);
  const answer = Promise.withResolvers<PlanAnswer>();
  worker.on("message", (message: PlanAnswer | PlanRead) => {
    if (message.kind !== "read") return answer.resolve(message);
    const { id, path, maxBytes } = message;
    read(path, maxBytes).then((bytes) => worker.postMessage({ id, bytes } satisfies PlanFile), answer.reject);
  });
  worker.once("error", (error) => answer.reject(outOfMemory(error) ? unreadable("needs too much memory") : error));
  worker.once("exit", () => answer.reject(new Error("The planning thread exited without an answer.")));
  const onAbort = () =>
    answer.reject(
      signal.aborted ? signal.reason : unreadable(`takes longer than ${Math.round(timeoutMs / 1000)} seconds`),
    );
  aborted.addEventListener("abort", onAbort, { once: true });
  try {
    return planOf(await answer.promise);
  } finally {
    aborted.removeEventListener("abort", onAbort);
    // Ends the thread even in the middle of a loop.
    await worker.terminate();
  }
}

/** Without the cache a thread compiles its modules again, which takes most of a plan's processor time. */
function compileCache(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}

function planOf(answer: PlanAnswer): Plan {
  if (answer.kind === "plan") return answer.plan;
  if (answer.kind === "failed") throw new BuildFailure(answer.diagnosis);
  throw new Error(`Planning failed: ${answer.message}`);
}

const outOfMemory = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

const unreadable = (what: string) =>
  failed("plan", "invalid_project_file", changeCode, {
    title: "The project's files can't be read",
    detail: `Parsing pyproject.toml, uv.lock, the requirements, fastmcp.json and the entrypoint's script block ${what}. One of them is unusually large or deeply nested.`,
    remedy: "Make these files smaller and push again.",
  });
