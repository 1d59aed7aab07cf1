import { newId } from "@towpath/core/ids";
import type { LeasedInstance } from "@towpath/runner-api";
import type { Exit, InstanceHandle, OutputSink, ServerSpec, StartResult } from "@towpath/runtime";
import { inSpan } from "@towpath/telemetry/trace";
import type { ServerLog } from "../logs/server-log.ts";
import type { InstanceState } from "./instance.state.ts";
import type { NewInstance } from "./instance.store.ts";
import type { InstanceRecord } from "./instance-record.ts";
import { describeExit, type ServerLimits } from "./launch.ts";

/** What an instance needs to write to its log. */
export type InstanceContext = {
  readonly log: ServerLog;
  /** Removes the server's secrets from a text. */
  readonly redact: (text: string) => string;
  readonly limits: ServerLimits;
};

/** All that is needed to start a deployment's server; read again for each start. */
export type OpenedDeployment = Omit<InstanceContext, "limits"> & {
  readonly server: ServerSpec;
  /** Host label of its route. */
  readonly label: string;
  /** For a later runner, see adopt.ts. */
  readonly memo?: string;
  /** Of a caller's own server: differs whenever one of the caller's values is another one. */
  readonly valuesStamp?: string;
};

type Started = Extract<StartResult, { ok: true }>;

/** Limit of the output during a start that goes into the build's log. */
const maxShownLines = 200;
const maxShownLine = 500;

/** One run of a deployment's server. Records its state and logs its events. */
export class Instance {
  readonly id: string;
  readonly startedAt: Date;
  readonly #context: InstanceContext;
  readonly #record: InstanceRecord;
  #state: InstanceState = "starting";
  #handle: InstanceHandle | null = null;
  #readyAt: Date | null = null;
  /** The same by the monotonic clock. */
  #readySince = 0;
  #recordedMemory = 0;
  #bytesAsleep: number | null = null;
  #shown: NonNullable<LeasedInstance["shown"]> = { output: [] };

  constructor(id: string, startedAt: Date, context: InstanceContext, record: InstanceRecord) {
    this.id = id;
    this.startedAt = startedAt;
    this.#context = context;
    this.#record = record;
  }

  /** A new one, recorded as starting. */
  static starting(
    context: InstanceContext,
    record: InstanceRecord,
    more: Pick<NewInstance, "deploymentId" | "callerId" | "restarts">,
  ): Instance {
    const startedAt = new Date();
    const instance = new Instance(newId(), startedAt, context, record);
    record.started({ id: instance.id, startedAt, ...more });
    return instance;
  }

  /** Continues with a server that an earlier runner started. `readyAt`: null if unknown. */
  resume(handle: InstanceHandle, readyAt: Date | null, isFrozen: boolean): void {
    this.#becomeReady(handle, readyAt ?? new Date());
    if (isFrozen) this.become("frozen");
  }

  get state(): InstanceState {
    return this.#state;
  }

  /** Null until it is ready. */
  get handle(): InstanceHandle | null {
    return this.#handle;
  }

  /** Milliseconds since it became ready; 0 before. */
  get readyForMs(): number {
    return this.#readyAt === null ? 0 : performance.now() - this.#readySince;
  }

  get limits(): ServerLimits {
    return this.#context.limits;
  }

  /** Whether its process has begun to exit, even if that has not been reported yet. */
  async isDead(): Promise<boolean> {
    return this.#handle !== null && !(await this.#handle.isAlive());
  }

  /** Where its output goes. */
  output(): OutputSink {
    const log = this.#context.log.output(this.id);
    const { output } = this.#shown;
    return (stream, line, ...more) => {
      if (this.#state === "starting" && output.length < maxShownLines) output.push(line.slice(0, maxShownLine));
      log(stream, line, ...more);
    };
  }

  /** Output of its start; returned once, since later callers don't need it. */
  takeShown(): LeasedInstance["shown"] {
    const shown = this.#shown;
    this.#shown = { output: [] };
    return shown;
  }

  ready({ handle, startMs, prewarm, pool, bridge, incomplete }: Started): void {
    this.#shown = { ...this.#shown, ...(bridge && { bridge }), ...(incomplete && { incomplete }) };
    this.#becomeReady(handle, new Date());
    const how =
      prewarm === "used"
        ? ", with the frameworks imported ahead of time"
        : pool === "used"
          ? ", in a pod that waited"
          : "";
    this.#log("info", `Started in ${Math.round(startMs)} ms${how}.`);
  }

  /** Memory in use. While it sleeps it is measured once: it doesn't change, and hundreds may sleep. */
  async memoryBytes(): Promise<number | null> {
    if (this.#state === "frozen" && this.#bytesAsleep !== null) return this.#bytesAsleep;
    const bytes = (await this.#handle?.memoryBytes()) ?? null;
    this.#bytesAsleep = this.#state === "frozen" ? bytes : null;
    return bytes;
  }

  /** Records its memory if that differs by more than a tenth from the recorded value. */
  measured(memoryBytes: number): void {
    if (Math.abs(memoryBytes - this.#recordedMemory) <= this.#recordedMemory / 10) return;
    this.#recordedMemory = memoryBytes;
    this.#record.measured(this.id, memoryBytes);
  }

  /** Undoes a freeze; call `woken` when it is ready again. */
  wake(): Promise<void> {
    return inSpan("wake server", async () => this.#handle?.wake());
  }

  /** `ms`: how long that took. */
  woken(ms: number): void {
    this.#state = "ready";
    this.#record.woken(this.id, ms);
  }

  become(state: "frozen" | "stopping"): void {
    this.#state = state;
    this.#record.changed(this.id, { state });
  }

  #becomeReady(handle: InstanceHandle, at: Date): void {
    this.#handle = handle;
    this.#state = "ready";
    this.#readyAt = at;
    this.#readySince = performance.now() - Math.max(0, Date.now() - at.getTime());
    // The database doesn't get the secret.
    const { secret: _, ...endpoint } = handle.endpoint;
    this.#record.changed(this.id, { state: "ready", readyAt: at, endpoint });
  }

  /** A start that was interrupted by a stop. */
  startStopped(reason: string, exit: Exit | null): void {
    this.#end("stopped", reason, exit);
    this.#log("info", `Stopped while it was starting: ${reason}.`);
  }

  /** Returns why, without secrets: callers of the server read it. */
  didNotStart(reason: string, exit: Exit | null): string {
    const redacted = this.#context.redact(reason);
    this.#end("crashed", redacted, exit);
    this.#log("error", `The server did not start: ${redacted}`);
    return redacted;
  }

  /** Returns why. `restartMs`: when it may start again. */
  crashed(exit: Exit, restartMs: number): string {
    const reason = describeExit(exit, this.limits);
    this.#end("crashed", reason, exit);
    this.#log("error", `The server crashed: ${reason}. It may start again in ${Math.ceil(restartMs / 1000)} s.`);
    return reason;
  }

  stopped(reason: string, exit: Exit): void {
    this.#end("stopped", reason, exit);
    this.#log("info", `Stopped: ${reason}.`);
  }

  /** A stop that the platform didn't request. Returns why. */
  stoppedFromOutside(exit: Exit): string {
    const reason = describeExit(exit, this.limits);
    this.stopped(reason, exit);
    return reason;
  }

  async describe() {
    return {
      id: this.id,
      state: this.#state,
      startedAt: this.startedAt.toISOString(),
      readyAt: this.#readyAt?.toISOString() ?? null,
      memoryBytes: await this.memoryBytes(),
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

  #log(level: "info" | "error", line: string): void {
    this.#context.log.platform(this.id, level, line);
  }
}
