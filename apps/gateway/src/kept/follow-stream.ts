import { setTimeout as sleep } from "node:timers/promises";
import { messagesIn } from "../portal/messages-in.ts";
import { resumingRequest } from "../tasks/own-request.ts";
import { isAnswer } from "./end-of-call.ts";
import type { LiveCall } from "./live-call.ts";

/** Of a server that names none; as clients wait. */
const pauseMs = 1000;
const minPauseMs = 200;
const maxPauseMs = 30_000;

/**
 * Goes on with a stream that its server ended before the result, for clients to resume by `Last-Event-ID` (2025-06-18,
 * 2025-11-25): a call without its client, or a task, has nobody else who does. Resolves once there is a result, or
 * nothing more to get. Never rejects.
 */
export async function followStream(live: LiveCall): Promise<void> {
  const { admitted, forward } = live;
  const { answer } = admitted.received;
  // A portal's own request goes to one of its servers.
  const isFollowed = answer.isEventStream && admitted.session !== null && admitted.call.route.target.kind !== "portal";
  if (!isFollowed || admitted.peek.era !== "legacy" || forward === null) return;
  while (live.isUnattended && !live.isEnded) {
    const { text } = live;
    if (text === null || messagesIn(text).some((message) => isAnswer(message, admitted.peek.id))) return;
    const resume = resumeIn(live.takeWholeEvents());
    if (resume === null) return;
    if (!/\r?\n\r?\n$/.test(text)) answer.push(Buffer.from("\n\n"));
    const stopped = new Promise<void>((resolve) => live.abortBy(resolve));
    await Promise.race([sleep(resume.afterMs, undefined, { ref: false }), stopped]);
    if (live.isEnded) return;
    const own = resumingRequest(admitted, resume.lastEventId);
    live.abortBy(() => own.call.response.destroy());
    own.kept = {
      isUnattended: true,
      cancelAtServer: null,
      goesOn: () => false,
      push(piece) {
        // The call's row says how it ended.
        answer.push(piece);
        live.push(piece);
      },
    };
    const isSent = await forward(own).then(
      () => true,
      () => false,
    );
    if (!isSent || own.received.answer.status !== 200) return;
    live.isFollowed = true;
  }
}

type Resume = { readonly lastEventId: string; readonly afterMs: number };

/** Where a stream of whole events is to be resumed; null: it can't be. */
function resumeIn(text: string): Resume | null {
  const last = (field: RegExp) => [...text.matchAll(field)].at(-1)?.[1];
  const lastEventId = last(/^id: ?(.*?)\r?$/gm);
  // An empty one takes it back.
  if (!lastEventId) return null;
  const retry = Number(last(/^retry: ?(\d+)\r?$/gm) ?? pauseMs);
  return { lastEventId, afterMs: Math.max(minPauseMs, Math.min(retry, maxPauseMs)) };
}
