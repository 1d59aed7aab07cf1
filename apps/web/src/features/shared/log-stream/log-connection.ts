import { streamEvents } from "~/http/streams/stream-events.ts";

/** `waiting`: refused for now and retried automatically; `refused`: permanently. */
export type StreamState = "connecting" | "open" | "reconnecting" | "waiting" | "refused" | "ended";

type ConnectionEvents = {
  readonly onState: (state: StreamState) => void;
  /** The message for the user; null once the problem is over. */
  readonly onProblem: (text: string | null) => void;
  /** The data of a `line`, `status` or `changed` event. */
  readonly onEvent: (event: "line" | "status" | "changed", data: string) => void;
};

/** Delay before the next attempt, in milliseconds: after a temporary refusal, after a broken connection. */
const retryRefusedMs = 15_000;
const retryFailedMs = 3000;

type Problem = { readonly code: string; readonly message: string };

// By hand: the overview reads these streams, and a schema would bring a fifth of the script that a page may load.
function isProblem(value: unknown): value is Problem {
  const { code, message } = (value ?? {}) as Partial<Record<keyof Problem, unknown>>;
  return typeof code === "string" && typeof message === "string";
}

/**
 * Keeps a log stream open and returns the function that closes it. A broken connection is reopened after the last event
 * received. Uses `fetch` rather than `EventSource`, which doesn't expose why a server refuses.
 *
 * @param url or what makes the one of each attempt
 */
export function openLogConnection(
  url: string | (() => string),
  { onState, onProblem, onEvent }: ConnectionEvents,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  let lastId = "";

  const report = (problem: Problem) => {
    onProblem(textOf(problem));
    return isFinal(problem) ? "refused" : null;
  };

  /** Reads one connection to its end. Returns the final state, or the delay before the next attempt. */
  async function connect(): Promise<"ended" | "refused" | number> {
    const headers = { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) };
    const answer = await fetch(typeof url === "string" ? url : url(), { headers, signal });
    if (!answer.ok) return refused(answer);
    if (!answer.body || !answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      await answer.body?.cancel();
      return retryFailedMs;
    }
    onState("open");
    onProblem(null);
    const events = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(streamEvents()).getReader();
    for (;;) {
      const { value, done } = await events.read();
      if (done) return retryFailedMs;
      if (value.id !== undefined) lastId = value.id;
      const end = value.event === "end" ? "ended" : handle(value.event, value.data);
      if (end === null) continue;
      await events.cancel();
      return end;
    }
  }

  function handle(event: string | undefined, data: string): "refused" | null {
    if (event === "line" || event === "status" || event === "changed") onEvent(event, data);
    if (event !== "problem") return null;
    const problem: unknown = JSON.parse(data);
    return isProblem(problem) ? report(problem) : null;
  }

  async function refused(answer: Response): Promise<"refused" | number> {
    const refusal: unknown = await answer.json().catch(() => null);
    const problem = (refusal as { readonly error?: unknown } | null)?.error;
    if (!isProblem(problem)) return retryFailedMs;
    if (report(problem) === "refused") return "refused";
    if (answer.status !== 429) return retryFailedMs;
    onState("waiting");
    return retryRefusedMs;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const next = await connect().catch(() => retryFailedMs);
      if (signal.aborted) return;
      if (typeof next === "string") return onState(next);
      if (next !== retryRefusedMs) onState("reconnecting");
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, next);
        signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
      });
    }
  }

  void run();
  return () => stopped.abort();
}

const finalTexts: Readonly<Record<string, string>> = {
  unauthenticated: "You are signed out. Sign in again to continue reading.",
  forbidden: "You no longer have access to this log. Ask an owner or admin of the organization.",
  not_found: "This log was deleted, or you no longer have access to it.",
};

const isFinal = ({ code }: Problem) => code in finalTexts;

function textOf({ code, message }: Problem): string {
  if (code === "limit_reached") return `${message} This page tries again automatically.`;
  return finalTexts[code] ?? message;
}
