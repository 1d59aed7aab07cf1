import { getReplay, startReplay } from "@towpath/core/delivery/replay";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Calls of production that are replayed on previews (CAP-4). */
export const replayOperations: readonly Operation[] = [
  operation("GET /builds/{buildId}/replay", "readReplay", "build.read", {
    summary: "how production's calls, replayed on this commit of a preview, were answered; or why none are",
    answer: answers.replay,
    handle: ({ ctx, params }) => getReplay({ ctx, input: { buildId: params.buildId } }),
  }),
  operation("POST /builds/{buildId}/replay", "startReplay", "build.start", {
    summary: "replays production's calls on a live preview again",
    answer: answers.replay,
    handle: ({ ctx, params }) => startReplay({ ctx, input: { buildId: params.buildId } }),
  }),
];
