import type { SignInStep } from "@towpath/core/calling/oauth/sign-in-step";
import type { Pool } from "pg";
import { BatchWriter } from "../write/batch-writer.ts";
import { toPostgresText } from "../write/postgres-text.ts";
import { announceRequestLogs } from "../write/request-log-changes.ts";
import { networkOf } from "./network.ts";
import { StepLimits } from "./step-limits.ts";

/** A step with facts from its HTTP request. */
export type RecordedStep = SignInStep & {
  /** The whole network address, of which only the network is kept; null if unknown. */
  readonly address: string | null;
  /** The User-Agent of the client's program; null for a step in a person's browser. */
  readonly agent: string | null;
};

type StoredStep = Omit<SignInStep, "projectId"> & {
  readonly projectId: string | null;
  readonly time: Date;
  readonly agent: string | null;
  readonly network: string | null;
  readonly leftOut: number;
};

const maxHeld = 2000;
const maxText = 300;
const flushMs = 100;
const batchRows = 200;

type Parts = { pool: Pool; share?: number; now?: () => number; onProblem: (error: unknown) => void };

/**
 * Takes the steps of clients' sign-ins from web and gateways and writes them in batches, within limits. Nothing waits
 * for it or fails with it: steps that the database has no time for are lost.
 */
export class SignInRecorder {
  readonly #limits: StepLimits;
  readonly #writer: BatchWriter<StoredStep>;

  /** `share`: this process's share of the limits. */
  constructor({ pool, share = 1, now, onProblem }: Parts) {
    this.#limits = new StepLimits({ share, ...(now && { now }) });
    this.#writer = new BatchWriter<StoredStep>({
      maxRows: maxHeld * share,
      maxBytes: maxHeld * 1024,
      flushMs,
      batchRows,
      tenantOf: ({ projectId }) => projectId ?? "",
      bytesOf: () => 512,
      write: (steps) => writeSteps(pool, steps),
      onEvicted: () => {},
      onRefused: (_, error) => onProblem(error),
      onUnavailable: onProblem,
      onRecovered: () => {},
    });
  }

  record(step: RecordedStep): void {
    const network = networkOf(step.address);
    const agent = productOf(step.agent);
    const leftOut = this.#limits.admit({ ...step, agent }, network);
    if (leftOut === null) return;
    const { address: _address, ...rest } = step;
    this.#writer.push({ ...rest, agent, network, leftOut, time: new Date() });
  }

  async stop(withinMs: number): Promise<void> {
    await this.#writer.close(withinMs);
  }
}

/** `name/version` of the first product (RFC 9110 §10.1.5), the most specific one. */
function productOf(userAgent: string | null): string | null {
  return /^[^\s()]{1,100}/.exec(userAgent ?? "")?.[0] ?? null;
}

/** Skips steps of projects that were deleted meanwhile. */
async function writeSteps(pool: Pool, steps: readonly StoredStep[]): Promise<void> {
  const text = (read: (step: StoredStep) => string | null | undefined) =>
    steps.map((step) => toPostgresText(read(step) ?? null, maxText));
  await pool.query(
    `INSERT INTO sign_in_step (time, project_id, kind, problem, is_proven, client_id, client_name, agent, network,
       user_id, key_id, authorization_id, detail, left_out, flow, fault)
     SELECT time, project_id, kind, problem, is_proven, client_id, client_name, agent, network, user_id, key_id,
       authorization_id, detail, left_out, flow, fault
     FROM unnest($1::timestamptz[], $2::uuid[], $3::text[], $4::text[], $5::bool[], $6::text[], $7::text[], $8::text[],
         $9::text[], $10::uuid[], $11::uuid[], $12::uuid[], $13::text[], $14::int[], $15::text[], $16::text[])
       WITH ORDINALITY AS steps (time, project_id, kind, problem, is_proven, client_id, client_name, agent, network,
         user_id, key_id, authorization_id, detail, left_out, flow, fault, position)
     WHERE project_id IS NULL OR EXISTS (SELECT FROM project WHERE project.id = steps.project_id)
     ORDER BY position`,
    [
      steps.map(({ time }) => time.toISOString()),
      steps.map(({ projectId }) => projectId),
      text(({ kind }) => kind),
      text(({ problem }) => problem),
      steps.map(({ isProven }) => isProven),
      text(({ clientId }) => clientId),
      text(({ clientName }) => clientName),
      text(({ agent }) => agent),
      text(({ network }) => network),
      steps.map(({ userId }) => userId ?? null),
      steps.map(({ keyId }) => keyId ?? null),
      steps.map(({ authorizationId }) => authorizationId ?? null),
      text(({ detail }) => detail),
      steps.map(({ leftOut }) => leftOut),
      text(({ flow }) => flow),
      text(({ fault }) => fault),
    ],
  );
  announceRequestLogs(
    pool,
    steps.flatMap(({ projectId }) => projectId ?? []),
  );
}
