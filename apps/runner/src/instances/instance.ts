import { newId } from "@towpath/core/ids";
import type { Exit, InstanceHandle, OutputSink, ServerSpec } from "@towpath/runtime";
import type { InstanceState } from "./instance.state.ts";
import type { InstanceRecord } from "./instance-record.ts";
import type { ServerLog } from "./server-log.ts";
import { exitWords } from "./words.ts";

/** What is needed to start a deployment's server, read anew at each start. */
export type OpenedDeployment = {
  readonly server: ServerSpec;
  readonly log: ServerLog;
  /** Takes the deployment's secrets out of a text. */
  readonly redact: (text: string) => string;
};

/** One run of a deployment's server. Whatever happens to it is recorded and said in its log here. */
export class Instance {
  readonly startedAt = Date.now();
  readonly id = newId();
  readonly #opened: OpenedDeployment;
  readonly #record: InstanceRecord;
  #state: InstanceState = "starting";
  #handle: InstanceHandle | null = null;
  #readyAt: number | null = null;
  /** The same by the monotonic clock. */
  #readySince = 0;

  constructor(
    opened: OpenedDeployment,
    record: InstanceRecord,
    more: { readonly deploymentId: string; readonly restarts: number },
  ) {
    this.#opened = opened;
    this.#record = record;
    record.started({ id: this.id, startedAt: new Date(this.startedAt), ...more });
  }

  get state(): InstanceState {
    return this.#state;
  }

  /** Null until it has become ready. */
  get handle(): InstanceHandle | null {
    return this.#handle;
  }

  /** Milliseconds since it became ready; 0 when it has not. */
  get readyForMs(): number {
    return this.#readyAt === null ? 0 : performance.now() - this.#readySince;
  }

  get memoryLimit(): number {
    return this.#opened.server.limits.memoryBytes;
  }

  /** Whether its process has begun to end, be it that nobody has been told yet. */
  async isDead(): Promise<boolean> {
    return this.#handle !== null && !(await this.#handle.isAlive());
  }

  /** Where its output goes. */
  output(): OutputSink {
    return this.#opened.log.output(this.id);
  }

  ready(handle: InstanceHandle, startMs: number): void {
    this.#handle = handle;
    this.become("ready");
    this.#say("info", `Started in ${Math.round(startMs)} ms.`);
  }

  become(state: "ready" | "frozen" | "stopping"): void {
    this.#state = state;
    const isFirst = state === "ready" && this.#readyAt === null;
    if (isFirst) {
      this.#readyAt = Date.now();
      this.#readySince = performance.now();
    }
    this.#record.changed(this.id, { state, ...(isFirst ? { readyAt: new Date() } : {}) });
  }

  /** Returns why, in words that hold no secret: they reach whoever calls the server. */
  didNotStart(reason: string, exit: Exit | null): string {
    const words = this.#opened.redact(reason);
    this.#end("crashed", words, exit);
    this.#say("error", `The server did not start: ${words}`);
    return words;
  }

  /** Returns why, in words. `restartMs`: when it may start again. */
  crashed(exit: Exit, restartMs: number): string {
    const reason = exitWords(exit, this.memoryLimit);
    this.#end("crashed", reason, exit);
    this.#say("error", `The server crashed: ${reason}. It may start again in ${Math.ceil(restartMs / 1000)} s.`);
    return reason;
  }

  stopped(reason: string, exit: Exit): void {
    this.#end("stopped", reason, exit);
    this.#say("info", `Stopped: ${reason}.`);
  }

  async describe() {
    return {
      id: this.id,
      state: this.#state,
      startedAt: new Date(this.startedAt).toISOString(),
      readyAt: this.#readyAt === null ? null : new Date(this.#readyAt).toISOString(),
      memoryBytes: (await this.#handle?.memoryBytes()) ?? null,
    };
  }

  #end(state: "stopped" | "crashed", reason: string, exit: Exit | null): void {
    this.#state = state;
    this.#record.changed(this.id, {
      state,
      endedAt: new Date(),
      endReason: reason,
      exitCode: exit?.code ?? null,
    });
  }

  #say(level: "info" | "error", line: string): void {
    this.#opened.log.platform(this.id, level, line);
  }
}
