import { z } from "zod";

/** `waiting`: refused for now, tried again automatically; `refused`: for good. */
export type StreamState = "connecting" | "open" | "reconnecting" | "waiting" | "refused" | "ended";

export type ConnectionEvents = {
  readonly onState: (state: StreamState) => void;
  /** What to tell the reader; null when nothing is wrong any more. */
  readonly onProblem: (text: string | null) => void;
  /** The data of a `line`, `status` or `changed` event. */
  readonly onEvent: (event: "line" | "status" | "changed", data: string) => void;
};

const retryRefusedMs = 15_000;
const retryFailedMs = 3000;

const problemSchema = z.object({ code: z.string(), message: z.string() });
type Problem = z.infer<typeof problemSchema>;

/**
 * Keeps a log stream open and returns the function that closes it. The browser reconnects a connection that breaks, with
 * Last-Event-ID. When the server refuses, it gives up without saying why: this asks for the reason and tries again.
 */
export function openLogConnection(url: string, { onState, onProblem, onEvent }: ConnectionEvents): () => void {
  const stopped = new AbortController();
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let lastId = "";

  const finish = (state: "ended" | "refused") => {
    source?.close();
    onState(state);
  };
  const later = (ms: number) => {
    if (!stopped.signal.aborted) retry = setTimeout(connect, ms);
  };
  const tell = (problem: Problem) => {
    onProblem(textOf(problem));
    if (isFinal(problem)) finish("refused");
  };

  function connect(): void {
    // A new EventSource doesn't know the last event id of the one before.
    source = new EventSource(lastId === "" ? url : `${url}?after=${encodeURIComponent(lastId)}`);
    source.onopen = () => {
      onState("open");
      onProblem(null);
    };
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) void explain();
      else onState("reconnecting");
    };
    for (const name of ["line", "status", "changed"] as const) {
      source.addEventListener(name, (event) => {
        lastId = event.lastEventId;
        onEvent(name, event.data);
      });
    }
    source.addEventListener("problem", (event) => {
      const problem = problemSchema.safeParse(JSON.parse(event.data));
      if (problem.success) tell(problem.data);
    });
    source.addEventListener("end", () => finish("ended"));
  }

  /** An EventSource doesn't say why it was refused: asks again with a plain request. */
  async function explain(): Promise<void> {
    onState("reconnecting");
    try {
      const answer = await fetch(url, { signal: stopped.signal });
      if (answer.ok) {
        await answer.body?.cancel();
        return later(retryFailedMs);
      }
      const refusal = z.object({ error: problemSchema }).safeParse(await answer.json().catch(() => null));
      if (!refusal.success) return later(retryFailedMs);
      tell(refusal.data.error);
      if (isFinal(refusal.data.error)) return;
      if (answer.status === 429) onState("waiting");
      later(answer.status === 429 ? retryRefusedMs : retryFailedMs);
    } catch {
      later(retryFailedMs);
    }
  }

  connect();
  return () => {
    stopped.abort();
    clearTimeout(retry);
    source?.close();
  };
}

const finalTexts: Readonly<Record<string, string>> = {
  unauthenticated: "You are signed out. Sign in again to continue reading.",
  forbidden: "You no longer have access to this log. Ask an owner or admin of the team.",
  not_found: "This log was deleted, or you no longer have access to it.",
};

const isFinal = ({ code }: Problem) => code in finalTexts;

function textOf({ code, message }: Problem): string {
  if (code === "limit_reached") return `${message} This page tries again automatically.`;
  return finalTexts[code] ?? message;
}
