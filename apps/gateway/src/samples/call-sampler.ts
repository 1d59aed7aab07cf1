import type { RequestLogRow } from "@towpath/logs";
import type { SecretBox } from "@towpath/secrets";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Logged } from "../call/states.ts";
import { type SampledRow, storeSamples } from "../read-model/sampled-calls.ts";
import { newRequestId } from "../record/request-id.ts";
import { argumentsOf, type Candidate, candidateOf, canonical, shapeOf } from "./sample-of-call.ts";

const flushMs = 2000;
/** Of one project between two writes: of a busy server, a random part is sampled. */
const maxOfProject = 20;
/** Of all projects in a gateway with one worker. */
const maxHeldBytes = 4 * 1024 * 1024;
const dayMs = 86_400_000;

type Taken = { readonly keepDays: number; seen: number; readonly candidates: Candidate[] };

/**
 * Samples production's tool calls for their replay on previews, of projects that ask for it (CAP-4). On the path of a call it
 * only keeps a reference in memory; what finds no room there, or can't be written, is dropped.
 */
export class CallSampler {
  readonly #parts: { readonly pool: Pool; readonly box: SecretBox; readonly log: Logger };
  readonly #maxBytes: number;
  #taken = new Map<string, Taken>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** `share`: this process's share of the bound in memory. */
  constructor({ share, ...parts }: { pool: Pool; box: SecretBox; log: Logger; share: number }) {
    this.#parts = parts;
    this.#maxBytes = maxHeldBytes * share;
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), flushMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Call it with each call that was recorded. */
  readonly take = (call: Logged, rows: readonly RequestLogRow[]): void => {
    const { projectId, replay } = call.received.route;
    if (replay === null) return;
    const candidate = candidateOf(call, rows);
    if (candidate === null || this.#bytes + candidate.body.length > this.#maxBytes) return;
    const taken = this.#taken.get(projectId) ?? { keepDays: replay.keepDays, seen: 0, candidates: [] };
    this.#taken.set(projectId, taken);
    taken.seen++;
    // Each call has the same chance, however many there are.
    const at = taken.seen <= maxOfProject ? taken.candidates.length : Math.floor(Math.random() * taken.seen);
    if (at >= maxOfProject) return;
    this.#bytes += candidate.body.length - (taken.candidates[at]?.body.length ?? 0);
    taken.candidates[at] = candidate;
  };

  /** Writes what was taken so far. Never rejects. */
  flush(): Promise<void> {
    const all = this.#taken;
    this.#taken = new Map();
    this.#bytes = 0;
    this.#writing = this.#writing.then(async () => {
      for (const [projectId, taken] of all) await this.#write(projectId, taken);
    });
    return this.#writing;
  }

  async #write(projectId: string, { keepDays, candidates }: Taken): Promise<void> {
    const { pool, box, log } = this.#parts;
    const now = Date.now();
    const times = { sampledAt: new Date(now), expiresAt: new Date(now + keepDays * dayMs) };
    const rows = new Map<string, SampledRow>();
    for (const candidate of candidates) {
      const given = argumentsOf(candidate);
      if (given === null) continue;
      const { tool } = candidate;
      const id = newRequestId(now);
      const hash = (...parts: string[]) => box.replays.fingerprint(projectId, JSON.stringify(parts));
      const fingerprint = hash("call", tool, canonical(given));
      const sealed = box.replays.seal({ projectId, id }, JSON.stringify(given));
      rows.set(fingerprint, { id, tool, shape: hash("shape", tool, shapeOf(given)), fingerprint, sealed, ...times });
    }
    if (rows.size === 0) return;
    try {
      await storeSamples(pool, projectId, [...rows.values()]);
    } catch (error) {
      log.debug({ err: error, projectId }, "sampled calls can't be written; they are dropped");
    }
  }
}
