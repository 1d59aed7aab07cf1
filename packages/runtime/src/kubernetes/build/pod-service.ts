import { Readable } from "node:stream";
import { secretHeader } from "@towpath/runner-api/endpoint";
import { Agent, type Dispatcher } from "undici";
import { SandboxError, UnreadableOutput } from "../../port/errors.ts";

/** A container of a build pod doesn't answer: it has ended, or its node can't be reached. */
export class PodUnreachable extends Error {
  override readonly name = "PodUnreachable";
}

export type PodCall = {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** An object is sent as JSON. */
  readonly body?: object | AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
};

const connectMs = 10_000;
const maxJsonBytes = 1024 ** 2;

/** The HTTP service of one container (python/towpath_pod/build.py). Each call has a connection, whose end ends its work. */
export class PodService {
  readonly #origin: string;
  readonly #secret: string;
  readonly #agent = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 });

  constructor(address: string, port: number, secret: string) {
    this.#origin = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
    this.#secret = secret;
  }

  /** @throws PodUnreachable; the error that the service names; what the body or the signal throws */
  async stream(call: PodCall): Promise<Readable> {
    const { path, query = {}, signal } = call;
    const body = sentBody(call.body);
    let response: Dispatcher.ResponseData<unknown>;
    try {
      response = await this.#agent.request({
        origin: this.#origin,
        path,
        query,
        method: "POST",
        headers: { [secretHeader]: this.#secret },
        body: body.content,
        ...(signal && { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (body.failure() !== null) throw body.failure();
      throw new PodUnreachable("The build's pod doesn't answer.", { cause: error });
    }
    if (response.statusCode === 200) return response.body;
    throw errorOf(parsed(await textOf(response.body)));
  }

  /** Resolves to the answer, an object. @throws as `stream` */
  async json<Answer>(call: PodCall): Promise<Answer> {
    const body = await this.stream(call);
    return parsed(await textOf(body)) as Answer;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

type SentBody = {
  readonly content: string | Readable | null;
  /** What the content threw, if it did. */
  failure(): unknown;
};

function sentBody(body: PodCall["body"]): SentBody {
  if (body === undefined) return { content: null, failure: () => null };
  if (!(Symbol.asyncIterator in body)) return { content: JSON.stringify(body), failure: () => null };
  let failure: unknown = null;
  async function* watched(chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return { content: Readable.from(watched(body)), failure: () => failure };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxJsonBytes) throw new Error("The build's pod answered too much.");
      chunks.push(chunk);
    }
  } catch (error) {
    throw new PodUnreachable("The build's pod doesn't answer any more.", { cause: error });
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PodUnreachable("The build's pod answered in part.");
  }
}

/** An error that the service names. */
function errorOf(answer: unknown): Error {
  const { code = "", message = "" } = (answer ?? {}) as { code?: string; message?: string };
  if (code === "unreadable") return new UnreadableOutput(message);
  if (code === "invalid_spec" || code === "setup_failed") return new SandboxError(code, message);
  return Object.assign(new Error(message), { code });
}
