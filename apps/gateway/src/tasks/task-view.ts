import type { Message } from "../portal/messages-in.ts";
import type { StoredTask } from "../read-model/kept-tasks.ts";
import type { TaskEra } from "./task-era.ts";

const pollMs = 1000;

type Status = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What clients see of a task, apart from its result. `result`: how it ended, if that was kept. */
export function viewOf(
  era: TaskEra,
  taskId: string,
  task: Pick<StoredTask, "startedAt" | "endedAt" | "expiresAt" | "keepMs"> & Ended,
): Message {
  const { startedAt, endedAt, expiresAt, keepMs } = task;
  // A result is kept for so long after the call has ended.
  const lifetimeMs = (expiresAt?.getTime() ?? Date.now() + keepMs) - startedAt.getTime();
  const words = wordsOf(task);
  return {
    taskId,
    status: statusOf(era, task),
    ...(words !== null && { statusMessage: words }),
    createdAt: startedAt.toISOString(),
    lastUpdatedAt: (endedAt ?? startedAt).toISOString(),
    ...(era === "legacy" ? { ttl: lifetimeMs, pollInterval: pollMs } : { ttlMs: lifetimeMs, pollIntervalMs: pollMs }),
  };
}

type Ended = Pick<StoredTask, "state" | "isFailed" | "sealed" | "isTaken" | "known">;

function statusOf(era: TaskEra, { state, isFailed, sealed, isTaken }: Ended): Status {
  switch (state) {
    case "running":
      return sealed === null || isTaken ? "working" : "input_required";
    case "asking":
      return "input_required";
    case "canceled":
      return "cancelled";
    case "waiting":
    case "fetched":
      // In 2025-11-25 a tool's own error is a failure, too.
      return era === "legacy" && isFailed ? "failed" : "completed";
    default:
      return "failed";
  }
}

function wordsOf({ state, known }: Ended): string | null {
  switch (state) {
    case "unknown":
      return `Nobody knows how the call ended: it may have been carried out. It is not run again. ${known ?? ""}`.trim();
    case "dropped":
      return `The call has ended, but its result was not kept. ${known ?? ""}`.trim();
    case "canceled":
      return "It was canceled.";
    default:
      return known;
  }
}

/** A task as `tasks/get` of 2026-07-28 shows it, with its result. `message`: how it ended; null: that is gone. */
export function detailedView(taskId: string, task: StoredTask, message: Message | null): Message {
  const view = viewOf("modern", taskId, task);
  if (view.status !== "completed" && view.status !== "failed") return view;
  if (message?.result !== undefined) return { ...view, result: message.result };
  const error = message?.error ?? endWithoutResult(task);
  const { message: text } = error as { message?: unknown };
  return { ...view, status: "failed", statusMessage: view.statusMessage ?? text, error };
}

/** Why there is no result to give. */
export function endWithoutResult(task: StoredTask): Message {
  const codes: Readonly<Record<string, string>> = { canceled: "call_canceled", unknown: "outcome_unknown" };
  const towpath = codes[task.state] ?? "result_gone";
  const message = wordsOf(task) ?? "The call has ended, and its result is no longer kept.";
  return { code: -32050, message, data: { towpath } };
}

/** What a client gets in place of the result. */
export function created(
  era: TaskEra,
  taskId: string,
  { startedAt, keepMs }: { startedAt: Date; keepMs: number },
): Message {
  const begun = {
    state: "running",
    known: null,
    endedAt: null,
    isFailed: false,
    sealed: null,
    isTaken: false,
  } as const;
  const expiresAt = new Date(startedAt.getTime() + keepMs);
  const task = viewOf(era, taskId, { ...begun, startedAt, keepMs, expiresAt });
  return era === "legacy" ? { task } : { ...task, resultType: "task" };
}
