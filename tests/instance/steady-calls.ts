import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { modernCall } from "./modern-call.ts";
import { processOf, runningProcessOf } from "./processes.ts";

export type FailedCall = {
  /** performance.now() when it was sent. */
  readonly sentAt: number;
  /** Such as `ECONNREFUSED`, or the answer's status and text. */
  readonly reason: string;
};

type Call = { readonly url: string; readonly tool: string };

/** Calls a tool on a connection of its own, or of an agent. Resolves to the answer's text. @throws Error */
function callOnce({ url, tool }: Call, agent: Agent | false): Promise<string> {
  const { body, ...options } = modernCall(tool, {}, "steady");
  return new Promise((resolve, reject) => {
    const call = request(url, { ...options, agent }, (response) => {
      const answered = (answer: string) =>
        response.statusCode === 200 ? resolve(answer) : reject(new Error(`${response.statusCode} ${answer}`));
      text(response).then(answered, reject);
    });
    call.once("error", reject).end(body);
  });
}

export const callTool = (url: string, tool: string): Promise<string> => callOnce({ url, tool }, false);

/** Calls the tool `identity` as soon as the instance's runner has ended, which an upgrade replaces. */
export async function callWithoutRunner({ dataDirectory }: { dataDirectory: string }, url: string): Promise<string> {
  const former = runningProcessOf(dataDirectory, "runner");
  while (processOf(dataDirectory, "runner") === former) await sleep(10);
  return await callTool(url, "identity");
}

/**
 * Calls a tool 60 times a second, whether or not earlier calls have been answered: half on new connections, half on kept
 * ones. `stop` resolves when all have ended.
 */
export function callSteadily(call: Call): {
  stop(): Promise<{ readonly calls: number; readonly failed: readonly FailedCall[] }>;
} {
  const agent = new Agent({ keepAlive: true });
  const all: Promise<unknown>[] = [];
  const failed: FailedCall[] = [];
  const timer = setInterval(() => {
    const sentAt = performance.now();
    const fail = (error: NodeJS.ErrnoException) => failed.push({ sentAt, reason: error.code ?? error.message });
    all.push(callOnce(call, all.length % 2 === 0 ? agent : false).catch(fail));
  }, 1000 / 60);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(all);
      agent.destroy();
      return { calls: all.length, failed };
    },
  };
}
