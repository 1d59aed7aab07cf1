import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { CommandError, printError, yellow } from "../terminal/terminal.ts";
import { describePause, RestartPauses } from "./restart-pauses.ts";
import { StateLines } from "./state-lines.ts";

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

  /** @throws Error when the first start fails, with PostgreSQL's last output */
  static async start(options: EmbeddedOptions): Promise<SupervisedPostgres> {
    const onRecovery = () => printError(`${yellow("!")} PostgreSQL recovers from a crash; waiting for it.`);
    const reporting = { ...options, onRecovery };
    const first = await startEmbeddedPostgres(reporting).catch((error: unknown) => {
      throw new CommandError(`PostgreSQL can't start: ${error instanceof Error ? error.message : String(error)}`);
    });
    return new SupervisedPostgres(reporting, first);
  }

  get pid(): number {
    return this.#current.pid;
  }

  async #watch(): Promise<void> {
    for (;;) {
      const readyAt = performance.now();
      const { signal, lastOutput } = await this.#current.exited;
      if (this.#stopping.signal.aborted) return;
      let pauseMs = this.#pauses.after({ readyForMs: performance.now() - readyAt, signal });
      const restarting = `restarting ${describePause(pauseMs)}`;
      printError(`${yellow("!")} PostgreSQL ended (${signal ?? lastOutput}); ${restarting}.`);
      const states = new StateLines("PostgreSQL");
      for (let isUp = false; !isUp; ) {
        if (!(await this.#pause(pauseMs))) return;
        try {
          this.#current = await startEmbeddedPostgres(this.#options, this.#stopping.signal);
          isUp = true;
        } catch (error) {
          if (this.#stopping.signal.aborted) return;
          states.failed(error instanceof Error ? error.message : String(error));
          pauseMs = this.#pauses.after({ readyForMs: null, signal: null });
        }
      }
      if (this.#stopping.signal.aborted) return;
      states.started();
    }
  }

  /** False if the instance stops meanwhile. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#stopping;
    await sleep(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  /** Fast shutdown; a start that is under way is ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#current.stop();
    await this.#watching;
    await this.#current.stop();
  }
}
