import type { DecryptedSecrets, InstanceChange, InstanceStore, NewInstance } from "./instance.store.ts";

const retryMs = 1000;
const maxWaiting = 10_000;

export type InstanceRecord = {
  started(row: NewInstance): void;
  changed(id: string, change: InstanceChange): void;
  /** A frozen one is ready again. `ms`: how long that took. */
  woken(id: string, ms: number): void;
  measured(id: string, memoryBytes: number): void;
  /** One entry of the audit log for a start, if there was anything to decrypt (KEY-2). */
  decrypted(secrets: DecryptedSecrets): void;
  /** Writes what is queued; gives up after `withinMs`. */
  close(withinMs: number): Promise<void>;
};

/** Writes instance rows asynchronously and in order, so that no request waits for the database. */
export function createInstanceRecord(store: InstanceStore, onError: (error: unknown) => void): InstanceRecord {
  const waiting: (() => Promise<void>)[] = [];
  let working: Promise<void> | null = null;
  let retry: NodeJS.Timeout | null = null;

  const work = async () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        await next();
        waiting.shift();
      } catch (error) {
        onError(error);
        if (store.isRefusal(error)) {
          // The database will never accept it, and everything queued behind it would wait forever.
          waiting.shift();
          continue;
        }
        retry ??= setTimeout(() => {
          retry = null;
          void start();
        }, retryMs);
        retry.unref();
        return;
      }
    }
  };
  const start = () => {
    working ??= work().finally(() => {
      working = null;
      // Something may have been added after the loop's last check.
      if (waiting.length > 0 && retry === null) void start();
    });
    return working;
  };
  const add = (write: () => Promise<void>) => {
    // Never drop the first one: it may be in progress.
    if (waiting.length >= maxWaiting) waiting.splice(1, 1);
    waiting.push(write);
    if (retry === null) void start();
  };
  return {
    started: (row) => add(() => store.insert(row)),
    changed: (id, change) => add(() => store.change(id, change)),
    woken: (id) => add(() => store.change(id, { state: "ready" })),
    measured: (id, memoryBytes) => add(() => store.measure(id, memoryBytes)),
    decrypted(secrets) {
      if (Object.keys(secrets.versions).length > 0) add(() => store.auditDecryption(secrets));
    },
    async close(withinMs) {
      if (retry !== null) clearTimeout(retry);
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, withinMs).unref());
      await Promise.race([start(), deadline]);
    },
  };
}
