import { setTimeout as sleep } from "node:timers/promises";
import type { Admitted } from "../call/states.ts";
import type { Forward } from "../kept/live-call.ts";
import { ownRequest } from "./own-request.ts";

/** A server that doesn't answer is left alone. */
const tellWithinMs = 1000;

/** Tells the server of a canceled task. In 2025-11-25, it goes on when its connection closes: it learns by a message. */
export async function tellServer(admitted: Admitted, forward: Forward): Promise<void> {
  const { session, peek } = admitted;
  // In 2026-07-28, closing the stream cancels.
  if (session === null || peek.id === null) return;
  session.canceled ??= new Set();
  session.canceled.add(peek.id);
  const params = { requestId: peek.id, reason: "The task was canceled." };
  const message = { method: "notifications/cancelled", params };
  const sent = admitted.kept?.cancelAtServer?.() ?? forward(ownRequest(admitted, { message, name: null }));
  await Promise.race([sent.catch(() => {}), sleep(tellWithinMs, undefined, { ref: false })]);
}
