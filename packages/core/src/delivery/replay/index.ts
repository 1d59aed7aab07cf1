export { getReplay, getSampledCall, startReplay } from "./get-replay.ts";
export type { OpenReplayServer, QuestionModel, ReplayTarget } from "./replay.port.ts";
export { requeueLostReplays } from "./requeue-lost-replays.ts";
export { runReplay } from "./run-replay.ts";
