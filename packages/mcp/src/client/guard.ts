import { asMcpClientError, McpClientError, timedOut } from "./errors.ts";

type Limits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

export type Guard = <T>(run: (signal: AbortSignal) => Promise<T>, limits?: Limits) => Promise<T>;

/** Runs with a deadline and all signals; the error says which of them ended it. */
export function guardWith(signals: readonly AbortSignal[], defaultMs: number): Guard {
  return async (run, options = {}) => {
    const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs ?? defaultMs));
    const callers = [...signals, ...(options.signal === undefined ? [] : [options.signal])];
    const all = AbortSignal.any([...callers, deadline]);
    const ended = new Promise<never>((_resolve, reject) => {
      all.addEventListener("abort", () => reject(all.reason), { once: true });
    });
    // Usually loses the race; its later rejection is ignored.
    ended.catch(() => {});
    try {
      all.throwIfAborted();
      return await Promise.race([run(all), ended]);
    } catch (error) {
      const overflow = callers.find((signal) => signal.reason instanceof McpClientError);
      if (overflow !== undefined) throw overflow.reason;
      if (callers.some((signal) => signal.aborted)) {
        throw new McpClientError("aborted", "The request was canceled.", { cause: error });
      }
      if (deadline.aborted) throw timedOut(error);
      throw asMcpClientError(error);
    }
  };
}
