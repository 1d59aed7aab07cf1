// Server functions that a page calls in one moment, such as the queries of its loader, share one request and one answer.

/** Where `answerBatch` takes them: the calls' own addresses, as a JSON list. */
export const batchPath = "/_serverFn/batch";
export const maxBatched = 20;

/** A line of the answer, in the order in which calls end. */
export type BatchLine = {
  /** Position of the call in the request, from 0. */
  readonly at: number;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null for an answer that isn't JSON, or that sets a cookie: the call is made again on its own. */
  readonly body: string | null;
};

type Call = {
  readonly url: string;
  readonly init: RequestInit;
  readonly resolve: (response: Response | Promise<Response>) => void;
  readonly reject: (error: unknown) => void;
};

let waiting: Call[] = [];

/** `fetch` for calls of server functions. Those that change something, and those of the session, go alone. */
export function batchedFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  if (typeof url !== "string" || init.method !== "GET" || url.startsWith("/_serverFn/session."))
    return fetch(url, init);
  return new Promise((resolve, reject) => {
    waiting.push({ url, init, resolve, reject });
    init.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
    if (waiting.length === 1) sendSoon();
  });
}

const maxTasks = 4;

/** Sends the calls once a task of the page has added none, which takes less than a millisecond. */
function sendSoon(known = 0, tasks = 0): void {
  afterThisTask(() => {
    if (waiting.length > known && tasks < maxTasks) sendSoon(waiting.length, tasks + 1);
    else sendWaiting();
  });
}

/** Runs `next` after the calls of the same moment, which serialize their input first. Not by a timer, which may take 4 ms. */
function afterThisTask(next: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    next();
  };
  port2.postMessage(null);
}

function sendWaiting(): void {
  const calls = waiting.filter(({ init }) => !init.signal?.aborted);
  waiting = [];
  for (let from = 0; from < calls.length; from += maxBatched) {
    const some = calls.slice(from, from + maxBatched);
    if (some.length === 1) sendAlone(some);
    else void sendTogether(some);
  }
}

function sendAlone(calls: Iterable<Call>): void {
  for (const { url, init, resolve } of calls) resolve(fetch(url, init));
}

async function sendTogether(calls: readonly Call[]): Promise<void> {
  const left = new Map(calls.entries());
  const stop = new AbortController();
  for (const { init } of calls)
    init.signal?.addEventListener("abort", () => calls.every((each) => each.init.signal?.aborted) && stop.abort());
  try {
    const body = JSON.stringify(calls.map(({ url }) => url));
    const headers = { "content-type": "application/json" };
    const response = await fetch(batchPath, { method: "POST", headers, body, signal: stop.signal });
    // A release that doesn't know batches, or a refusal of this one.
    if (!response.ok || !response.body) return sendAlone(left.values());
    for await (const line of linesOf(response.body)) {
      const answer = JSON.parse(line) as BatchLine;
      const call = left.get(answer.at);
      if (!call) continue;
      left.delete(answer.at);
      if (answer.body === null) sendAlone([call]);
      else
        call.resolve(
          new Response(answer.body, { status: answer.status, headers: answer.headers.map(([...pair]) => pair) }),
        );
    }
    sendAlone(left.values());
  } catch (error) {
    for (const { reject } of left.values()) reject(error);
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
