import { runReplay } from "@towpath/core/delivery/replay";
import { jobContext, type Services } from "../services.ts";

/** Pause while another worker has the replay, or its claim on it has not run out. */
const busyPauseMs = 5000;

/** Replays production's sampled calls on a preview, and asks a model the saved questions (CAP-4). */
export async function replaySampledCalls(services: Services, replayId: string, signal: AbortSignal): Promise<void> {
  const { openReplayServer: openServer, questionModel: model, queue } = services;
  const outcome = await runReplay({
    ctx: jobContext(services, "calls.replay"),
    input: { replayId, openServer, model, signal },
  });
  // The queue gives it to another worker.
  if (signal.aborted) signal.throwIfAborted();
  if (outcome !== "busy") return;
  const startAfter = new Date(Date.now() + busyPauseMs);
  await queue.enqueue("calls.replay", { replayId }, { key: replayId, startAfter });
}
