import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { printError, yellow } from "../terminal/terminal.ts";
import { describePause, RestartPauses } from "./restart-pauses.ts";

/**
 * Runs the embedded PostgreSQL and restarts it when it ends unexpectedly. Its address stays the same; clients
 * reconnect.
 */
export class SupervisedPostgres {
  readonly url: string;
  #options: EmbeddedOptions;
  #current: EmbeddedPostgres;
  #pauses = new RestartPauses();
  #stopping = new AbortController();
  #watching: Promise<void>;

  private constructor(options: EmbeddedOptions, first: EmbeddedPostgres) {
    this.#options = options;
    this.#current = first;
    this.url = first.url;
    this.#watching = this.#watch();
  }

  /** @throws Error when it cannot start for the first time, with PostgreSQL's own last lines. */
  static async start(options: EmbeddedOptions): Promise<SupervisedPostgres> {
    return new SupervisedPostgres(options, await startEmbeddedPostgres(options));
  }

  get pid(): number {
    return this.#current.pid;
  }

  async #watch(): Promise<void> {
    for (;;) {
      const readyAt = performance.now();
      const { signal, lastOutput } = await this.#current.exited;
      if (this.#stopping.signal.aborted) return;
      let how = signal ?? lastOutput.split("\n").at(-1);
      let pauseMs = this.#pauses.after({ readyForMs: performance.now() - readyAt, signal });
      for (let isUp = false; !isUp; ) {
        printError(`${yellow("!")} PostgreSQL ended (${how}); restarting ${describePause(pauseMs)}.`);
        if (!(await this.#pause(pauseMs))) return;
        try {
          this.#current = await startEmbeddedPostgres(this.#options);
          isUp = true;
        } catch (error) {
          how = error instanceof Error ? error.message : String(error);
          pauseMs = this.#pauses.after({ readyForMs: null, signal: null });
        }
      }
      if (this.#stopping.signal.aborted) return;
    }
  }

  /** False: the instance stops meanwhile. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#stopping;
    await sleep(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  /** Fast shutdown; a start that is under way is waited for first. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#current.stop();
    await this.#watching;
    await this.#current.stop();
  }
}
