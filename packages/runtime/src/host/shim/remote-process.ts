import { Readable } from "node:stream";
import type { ProcessEnd } from "../process/child.ts";
import type { HostedProcess, OutputChunk } from "../process/host.ts";
import type { ListedProcess, Request } from "./frames.ts";

/** A process of the shim, as the runner sees it. The connection calls the `on…` methods. */
export class RemoteProcess implements HostedProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessEnd>;
  /** Resolves when it has ended and its output has come to its end. */
  readonly settled: Promise<unknown>;
  readonly onDropped: (bytes: number) => void;
  readonly #number: number;
  readonly #send: (request: Request) => void;
  readonly #outputs = new Map<number, { readonly stream: Readable; readonly close: () => void }>();
  #resolve: (end: ProcessEnd) => void = () => {};
  #hasEnded = false;

  constructor(listed: Omit<ListedProcess, "group">, send: (request: Request) => void, onDropped = (_: number) => {}) {
    this.pid = listed.pid;
    this.#number = listed.process;
    this.#send = send;
    this.onDropped = onDropped;
    this.exited = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const closed = listed.outputs.map((descriptor) => {
      // The shim limits the rate at which it reads. Object mode, so that each part keeps its position.
      const stream = new Readable({ objectMode: true, read() {} });
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#outputs.set(descriptor, { stream, close: resolve });
      return promise;
    });
    this.settled = Promise.all([this.exited, ...closed]);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  output(descriptor: number): Readable {
    const output = this.#outputs.get(descriptor);
    if (output === undefined) throw new Error(`Descriptor ${descriptor} is not an output.`);
    return output.stream;
  }

  write(descriptor: number, text: string, end: boolean): void {
    this.#send({ type: "write", process: this.#number, descriptor, text, end });
  }

  signal(signal: NodeJS.Signals): void {
    this.#send({ type: "signal", process: this.#number, signal });
  }

  kept(descriptor: number, position: number): void {
    this.#send({ type: "kept", process: this.#number, descriptor, position });
  }

  onData(descriptor: number, chunk: OutputChunk): void {
    this.#outputs.get(descriptor)?.stream.push(chunk);
  }

  onClosed(descriptor: number): void {
    const output = this.#outputs.get(descriptor);
    output?.stream.push(null);
    output?.close();
  }

  onExit(end: ProcessEnd): void {
    this.#hasEnded = true;
    this.#resolve(end);
  }

  /** The kernel ends what a dead shim has started. */
  onShimGone(): void {
    for (const descriptor of this.#outputs.keys()) this.onClosed(descriptor);
    this.onExit({ code: null, signal: "SIGKILL", lostParent: true });
  }
}
