import type { Dispatcher } from "undici";
import { type BodyFilter, Withheld } from "../policy/tool-lists.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What the handler of an answer's head needs. */
export type HeadController = Pick<Dispatcher.DispatchController, "rawHeaders" | "abort">;

type Head = { controller: Dispatcher.DispatchController; status: number; headers: Headers };

type ResponseHandler = Required<
  Pick<Dispatcher.DispatchHandler, "onRequestStart" | "onResponseData" | "onResponseEnd" | "onResponseError">
> & { onResponseStart: (controller: HeadController, status: number, headers: Headers) => void };

/**
 * Sits between the server's answer and the handler that sends it on, and rewrites the body and its length. Used only
 * for requests whose answers must be filtered. If an answer can't be filtered, the inner handler gets the error
 * `Withheld`, before the head was sent unless it is a stream.
 */
export class FilteringHandler implements Dispatcher.DispatchHandler {
  readonly #inner: ResponseHandler;
  readonly #filterFor: (headers: Headers) => BodyFilter | null;
  #filter: BodyFilter | null = null;
  /** The head of an answer that is filtered as a whole. */
  #head: Head | null = null;
  #withheld = false;

  constructor(inner: ResponseHandler, filterFor: (headers: Headers) => BodyFilter | null) {
    this.#inner = inner;
    this.#filterFor = filterFor;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#inner.onRequestStart(controller, context);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#guard(controller, () => {
      if (status < 200) return;
      // Clients detect the era by the body of a 4xx, so it passes unchanged.
      this.#filter = status < 400 ? this.#filterFor(headers) : null;
      if (this.#filter?.isStream === false) this.#head = { controller, status, headers };
      else this.#start({ controller, status, headers }, null);
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#guard(controller, () => {
      const piece = this.#filter ? this.#filter.push(chunk) : chunk;
      if (piece !== null) this.#inner.onResponseData(controller, piece);
    });
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Record<string, string | string[]>): void {
    this.#guard(controller, () => {
      const rest = this.#filter?.end();
      if (rest && this.#head) this.#start(this.#head, rest.length);
      if (rest && rest.length > 0) this.#inner.onResponseData(controller, rest);
      this.#inner.onResponseEnd(controller, trailers);
    });
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#withheld) this.#inner.onResponseError(controller, error);
  }

  /** `length`: of the filtered body; null for a stream, and for an unfiltered answer. */
  #start({ controller, status, headers }: Head, length: number | null): void {
    if (!this.#filter) {
      this.#inner.onResponseStart(controller, status, headers);
      return;
    }
    const { "content-length": _replaced, ...rest } = headers;
    const raw = (controller.rawHeaders ?? []) as (Buffer | string)[];
    const kept = raw.filter((_, at) => String(raw[at - (at % 2)]).toLowerCase() !== "content-length");
    const sized = length === null ? {} : { "content-length": String(length) };
    const rawHeaders = [...kept, ...Object.entries(sized).flat()] as HeadController["rawHeaders"];
    const abort = (reason: Error) => controller.abort(reason);
    this.#inner.onResponseStart({ rawHeaders, abort }, status, { ...rest, ...sized });
  }

  #guard(controller: Dispatcher.DispatchController, work: () => void): void {
    if (this.#withheld) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof Withheld)) throw error;
      this.#withheld = true;
      this.#inner.onResponseError(controller, error);
      controller.abort(error);
    }
  }
}
