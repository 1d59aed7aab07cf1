import type { Notifications } from "@towpath/db/notifications";
import type { Logger } from "pino";
import type { Admitted } from "../call/states.ts";
import type { SealedResults } from "../kept/sealed-results.ts";
import type { Message } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import type { PortalReach } from "../portal/reach.ts";
import { type KeptTaskStore, type StoredTask, taskChannel } from "../read-model/kept-tasks.ts";
import { isReached, modernTask } from "./shown-task.ts";
import type { TaskEra } from "./task-era.ts";
import { listOwnerOf, type TaskIds } from "./task-ids.ts";
import { viewOf } from "./task-view.ts";

/** Of one stream. */
const maxTasks = 1000;

/** A client's open stream. */
type NoticeStream = { readonly admitted: Admitted; readonly send: (message: Message) => void };

type Subscriber = NoticeStream & {
  readonly era: TaskEra;
  /** What goes with each message. */
  readonly about: Message;
};

type Parts = {
  readonly store: KeptTaskStore;
  readonly results: SealedResults;
  readonly ids: TaskIds;
  readonly reach: PortalReach;
  readonly log: Logger;
};

/** The ids of a subscription (2026-07-28) that are of the gateway's tasks, by their calls. */
export type TaskSubscription = {
  readonly taskIds: readonly string[];
  readonly publish: () => void;
  readonly stop: () => void;
};

/**
 * Notifies clients with an open stream of how their tasks change, by notifications of PostgreSQL, as any gateway may have changed
 * them: in 2025-11-25 all tasks of the caller on the stream of a session, in 2026-07-28 those that a client subscribes to.
 */
export class TaskNotices {
  readonly #parts: Parts;
  /** By call, and by whose list it is in. */
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns a function that ends it. */
  start(notifications: Notifications): () => void {
    return notifications.subscribe({ channel: taskChannel }, (changed) => {
      const [callId, owner = "", running] = changed?.split(" ") ?? [];
      if (callId !== undefined) this.#publish(callId, owner, running);
    });
  }

  /** On the stream of a legacy session. Returns a function that ends it. */
  ofSession(stream: NoticeStream): () => void {
    const owner = listOwnerOf(stream.admitted);
    return owner === null ? () => {} : this.#add([owner], { ...stream, era: "legacy", about: {} });
  }

  /** What `subscriptions/listen` asks for, by its parameters. `publish` sends how these tasks are now. */
  listen(stream: NoticeStream, params: Readonly<Message>): TaskSubscription {
    const { ids } = this.#parts;
    const { taskIds: asked } = membersOf(params.notifications);
    const found = (Array.isArray(asked) ? asked.slice(0, maxTasks) : []).flatMap((taskId: string) => {
      const callId = ids.open(taskId, stream.admitted);
      return callId === null ? [] : [{ taskId, callId }];
    });
    const taskIds = found.map(({ taskId }) => taskId);
    const callIds = found.map(({ callId }) => callId);
    const about = { _meta: { "io.modelcontextprotocol/subscriptionId": stream.admitted.peek.id } };
    const stop = this.#add(callIds, { ...stream, era: "modern", about });
    const publish = () => {
      for (const callId of callIds) this.#publish(callId, "");
    };
    return { taskIds, publish, stop };
  }

  #add(keys: readonly string[], subscriber: Subscriber): () => void {
    for (const key of keys) this.#subscribers.set(key, (this.#subscribers.get(key) ?? new Set()).add(subscriber));
    return () => {
      for (const key of keys) {
        const all = this.#subscribers.get(key);
        all?.delete(subscriber);
        if (all?.size === 0) this.#subscribers.delete(key);
      }
    };
  }

  /** One after the other, so that an earlier state doesn't arrive later. `running`: as it was then, if it ran. */
  #publish(callId: string, owner: string, running?: string): void {
    if (!this.#subscribers.has(callId) && !this.#subscribers.has(owner)) return;
    this.#last = this.#last
      .then(async () => {
        const all = [callId, owner].flatMap((key) => [...(this.#subscribers.get(key) ?? [])]);
        const [first] = all;
        const found = first && (await this.#parts.store.find(callId, first.admitted.owner.projectId));
        const task = found && running !== undefined ? whileRunning(found, running === "asks") : found;
        if (task) for (const each of all) await this.#notify(each, task);
      })
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, "clients can't be notified of a task"));
  }

  async #notify({ admitted, era, about, send }: Subscriber, task: StoredTask): Promise<void> {
    const { ids, results } = this.#parts;
    if (!(await isReached(this.#parts, admitted, task))) return;
    const taskId = ids.seal(task.id, admitted);
    const view = era === "legacy" ? viewOf(era, taskId, task) : modernTask(results, admitted, { task, taskId }).view;
    const method = era === "legacy" ? "notifications/tasks/status" : "notifications/tasks";
    send({ jsonrpc: "2.0", method, params: { ...view, ...about } });
  }
}

/** A task as it was before its end. */
function whileRunning(task: StoredTask, asks: boolean): StoredTask {
  const ended = { known: null, endedAt: null, expiresAt: null, isFailed: false };
  return { ...task, ...ended, state: "running", sealed: asks ? "" : null, isTaken: false };
}
