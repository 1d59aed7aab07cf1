import { setTimeout as sleep } from "node:timers/promises";
import type { EventSourceMessage } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { CommandError, dim, print } from "../terminal/terminal.ts";
import { foreignAnswer, networkCause } from "./failure-texts.ts";
import { connect } from "./instance.ts";
import { type Target, targetOf } from "./target.ts";
import { isTimeout, silenceLimit, timeLimits } from "./time-limits.ts";

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), fields: z.record(z.string(), z.string()).optional() }),
});

/** Calls of an instance's REST API, with an API key or beside it with the operator token. */
export type Api = {
  readonly url: string;
  /** Null: the local instance, with the operator's token. */
  readonly key: string | null;
  /** The key, or that token: the password of git. */
  readonly token: string;
  /**
   * `retry`: tries again while the instance does not answer, for as long as `events` does; for idempotent calls only.
   * @throws CommandError with the instance's own message when it refuses.
   */
  call<Output>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    schema: z.ZodType<Output>,
    options?: { readonly body?: unknown; readonly retry?: boolean },
  ): Promise<Output>;
  /**
   * Server-sent events of a path until the event `end`; yields neither that one nor `problem`. Resumes a stream that
   * drops or fails after the last event received, also across a restart of the instance.
   * @throws CommandError when the instance refuses, stays unreachable, or keeps failing.
   */
  events(path: string): AsyncGenerator<EventSourceMessage>;
  /**
   * The bytes of a file, as they come.
   * @throws CommandError when the instance refuses, or the connection breaks off
   */
  download(path: string): AsyncGenerator<Uint8Array>;
};

/** The instance does not answer, or can't right now: a later try may succeed. */
class Unreachable extends CommandError {}

/** It doesn't exist, or the caller may not know of it. */
class Missing extends CommandError {}

/** A stream broke off with an error of the instance. */
class StreamFailed extends Unreachable {}

const reconnectEveryMs = 500;
/** How long an instance may be unreachable before the command gives up. */
const maxUnreachableMs = 60_000;
/** How often in a row a stream may fail without anything new. */
const maxProblems = 10;

const problemSchema = z.object({ code: z.string(), message: z.string() });
const finalCodes: ReadonlySet<string> = new Set(["unauthenticated", "forbidden", "not_found"]);

/** Parses the event `problem`, which ends a failed stream. */
function problemOf(data: string): CommandError {
  const { code, message } = problemSchema.parse(JSON.parse(data));
  return finalCodes.has(code) ? new CommandError(message) : new StreamFailed(message);
}

async function errorOf(url: string, response: Response): Promise<CommandError> {
  const text = await response.text();
  const Kind =
    response.status >= 500 || response.status === 429 ? Unreachable : response.status === 404 ? Missing : CommandError;
  const parsed = errorSchema.safeParse(jsonOf(text));
  if (!parsed.success) return new Kind(foreignAnswer(url, response, text));
  const fields = Object.entries(parsed.data.error.fields ?? {}).filter(
    ([, problem]) => problem !== parsed.data.error.message,
  );
  return new Kind(
    [parsed.data.error.message, ...fields.map(([field, problem]) => `  ${field}: ${problem}`)].join("\n"),
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @throws CommandError for answers of another program or version */
async function readAnswer<Output>(url: string, response: Response, schema: z.ZodType<Output>): Promise<Output> {
  const text = await response.text();
  const answer = jsonOf(text);
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  if (answer === null) throw new CommandError(foreignAnswer(url, response, text));
  const [issue] = parsed.error.issues;
  const where = issue ? ` (${issue.path.join(".") || "the answer"}: ${issue.message})` : "";
  throw new CommandError(`This terminal can't read what ${url} answered${where}. Have both the same version?`);
}

const serversPath = "/api/v1/projects";
const serversSchema = z.object({ data: z.array(z.object({ name: z.string() })) });

/** Says so if it is the server that doesn't exist, rather than something of it. */
async function missingServer(api: Api, path: string, error: Missing): Promise<CommandError> {
  const [, name] = new RegExp(`^${serversPath}/([\\w-]+)`).exec(path) ?? [];
  if (name === undefined) return error;
  const names = await api.call("GET", serversPath, serversSchema).then(
    ({ data }) => data.map((each) => each.name),
    () => null,
  );
  if (names === null || names.some((each) => each.toLowerCase() === name.toLowerCase())) return error;
  return new CommandError(`No server named ${name}.${didYouMean(name, names)} \`towpath list\` shows yours.`);
}

/** Waits between attempts; rethrows the error once the instance has been unreachable for `maxUnreachableMs`. */
function createPatience() {
  let unreachableSince: number | null = null;
  return {
    isBack: () => {
      unreachableSince = null;
    },
    async wait(error: unknown): Promise<void> {
      if (unreachableSince === null)
        print(dim("The connection to the instance was lost. Waiting for it to come back …"));
      unreachableSince ??= performance.now();
      if (performance.now() - unreachableSince > maxUnreachableMs) throw error;
      await sleep(reconnectEveryMs);
    },
  };
}

/** `onBytes` is called for every chunk, such as a heartbeat. */
function eventsOf({ body }: Response, onBytes: () => void): ReadableStream<EventSourceMessage> {
  if (body === null) throw new Unreachable("The instance answered without a stream.");
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(bytes, controller) {
      onBytes();
      controller.enqueue(bytes);
    },
  });
  return body.pipeThrough(counted).pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

/** The instance that a command works with: see `targetOf`. */
export const connectApi = async (values: { readonly "data-dir"?: string | undefined }): Promise<Api> =>
  apiOf(await targetOf(values["data-dir"]));

/** The instance of a data directory. */
export const openApi = (dataDirectory: string): Api => apiOf({ ...connect(dataDirectory), isLocal: true });

type Sent = { readonly signal: AbortSignal; readonly headers: Record<string, string>; readonly body?: unknown };

export function apiOf(instance: Target, limits = timeLimits): Api {
  const { url, isLocal } = instance;
  const unanswered = (error: unknown, limitMs: number, isChange: boolean) => {
    if (error instanceof CommandError) return error;
    if (!isTimeout(error)) {
      const ask = isLocal ? "Is ./towpath up still running?" : "Is the address right?";
      return new Unreachable(`The instance at ${url} does not answer: ${networkCause(error)}. ${ask}`);
    }
    const seconds = Math.round(limitMs / 1000);
    const where = isLocal ? "The output of ./towpath up may say why" : "Its operator may know why";
    const done = isChange ? " It may do what was asked all the same: see towpath status NAME." : "";
    return new Unreachable(
      `The instance at ${url} took the connection, but no answer came within ${seconds} seconds. ${where}; or try again.${done}`,
    );
  };
  const request = async (method: string, path: string, { signal, headers, body }: Sent) => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${instance.token}`,
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw await errorOf(url, response);
    return response;
  };
  return {
    url,
    key: isLocal ? null : instance.token,
    token: instance.token,
    async call(method, path, schema, { body, retry = false } = {}) {
      const patience = createPatience();
      const isChange = method !== "GET";
      const limitMs = isChange ? limits.changeMs : limits.readMs;
      for (;;) {
        try {
          const signal = AbortSignal.timeout(limitMs);
          const response = await request(method, path, { signal, headers: { accept: "application/json" }, body });
          return await readAnswer(url, response, schema);
        } catch (caught) {
          const error = unanswered(caught, limitMs, isChange);
          if (error instanceof Missing) throw await missingServer(this, path, error);
          if (!retry || !(error instanceof Unreachable)) throw error;
          await patience.wait(error);
        }
      }
    },
    async *download(path) {
      const silence = silenceLimit(limits.changeMs);
      try {
        const response = await request("GET", path, { signal: silence.signal, headers: {} });
        for await (const chunk of response.body ?? []) {
          silence.restart();
          yield chunk;
        }
      } catch (caught) {
        const error = unanswered(caught, limits.changeMs, false);
        throw error instanceof Missing ? await missingServer(this, path, error) : error;
      } finally {
        silence.end();
      }
    },
    async *events(path) {
      const patience = createPatience();
      let lastId: string | null = null;
      let problems = 0;
      for (;;) {
        let lost: unknown = new Unreachable(`The instance at ${url} ended the stream.`);
        const silence = silenceLimit(limits.silenceMs);
        let response: Response | null = null;
        try {
          const resume: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
          const headers = { accept: "text/event-stream", ...resume };
          response = await request("GET", path, { signal: silence.signal, headers });
          for await (const event of eventsOf(response, silence.restart)) {
            if (event.event === "problem") throw problemOf(event.data);
            patience.isBack();
            if (event.id !== undefined) problems = 0;
            lastId = event.id ?? lastId;
            if (event.event === "end") return;
            yield event;
          }
        } catch (caught) {
          const error = isTimeout(caught) || response === null ? unanswered(caught, limits.silenceMs, false) : caught;
          if (error instanceof StreamFailed) problems += 1;
          if (problems === maxProblems || (error instanceof CommandError && !(error instanceof Unreachable)))
            throw error;
          lost = error instanceof CommandError ? error : lost;
        } finally {
          silence.end();
        }
        await patience.wait(lost);
      }
    },
  };
}
