import type { Rest } from "../call/answer.ts";
import type { Admitted, CallResponse } from "../call/states.ts";
import { type Message, parsedMessage } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import type { Recorder } from "../record/recorder.ts";
import { NoticeWriter } from "./notice-writer.ts";
import type { ChangeAnswer } from "./offers.ts";
import type { TaskEra } from "./task-era.ts";
import type { TaskNotices } from "./task-notices.ts";

type Parts = { readonly taskNotices: TaskNotices; readonly recorder: Recorder };
type Asked = {
  readonly admitted: Admitted;
  readonly era: TaskEra;
  /** `change`: of the stream's messages. */
  readonly forward: (admitted: Admitted, change: ChangeAnswer | null) => Promise<Rest>;
};

/** Forwards a client's stream of notifications to its server, and adds those of its tasks. */
export function forwardStream({ taskNotices, recorder }: Parts, { admitted, era, forward }: Asked): Promise<Rest> {
  const { response } = admitted.call;
  const own: Admitted = { ...admitted };
  const writer = new NoticeWriter(recorder, own);
  own.kept = writer;
  if (era === "legacy") {
    endWith(response, taskNotices.ofSession({ admitted, send: (message) => writer.send(message) }));
    return forward(own, null);
  }
  let isAcknowledged = false;
  const send = (message: Message) => {
    if (isAcknowledged) writer.send(message);
  };
  const params = membersOf(parsedMessage(admitted.body.toString("utf8"))?.params);
  const { taskIds, publish, stop } = taskNotices.listen({ admitted, send }, params);
  endWith(response, stop);
  if (taskIds.length === 0) return forward(admitted, null);
  return forward(own, (message) => {
    if (message.method !== acknowledged) return false;
    const { notifications, ...others } = membersOf(message.params);
    message.params = { ...others, notifications: { ...membersOf(notifications), taskIds } };
    isAcknowledged = true;
    // One may have ended before.
    publish();
    return true;
  });
}

function endWith(response: CallResponse, stop: () => void): void {
  if (response.destroyed) stop();
  else response.once("close", stop);
}

const acknowledged = "notifications/subscriptions/acknowledged";
