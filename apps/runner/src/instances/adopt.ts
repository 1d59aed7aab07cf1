import { serverKeyOf } from "@towpath/runner-api";
import type { OutputSink, ServerDriver, Survivor } from "@towpath/runtime";
import { createRedactor } from "@towpath/secrets/redaction";
import { z } from "zod";
import type { StoredDeployment } from "../deployments/deployment.store.ts";
import { type ServerLine, serverLog } from "../logs/server-log.ts";
import type { TakenOverLines } from "../logs/taken-over-lines.ts";
import type { InstanceStore } from "./instance.store.ts";
import { Instance } from "./instance.ts";
import type { InstancePool } from "./instance-pool.ts";
import type { InstanceRecord } from "./instance-record.ts";
import type { ServerLimits } from "./launch.ts";
import type { Adoption } from "./server-parts.ts";

/**
 * What the next runner needs to know about a server. Contains the secrets with which it was started: they may have
 * changed since, and the server may still print the old ones.
 */
const memoSchema = z.object({
  organizationId: z.uuid(),
  projectId: z.uuid(),
  deploymentId: z.uuid(),
  callerId: z.uuid().nullable().default(null),
  valuesStamp: z.string().nullable().default(null),
  memoryBytes: z.number(),
  /** Earlier runners had only the default. */
  processes: z.number().default(256),
  secrets: z.record(z.string(), z.string()),
});

export function memoOf(
  { organizationId, projectId, deploymentId }: StoredDeployment,
  { callerId, valuesStamp }: { readonly callerId: string | null; readonly valuesStamp: string | null },
  { memoryBytes, processes }: ServerLimits,
  secrets: Readonly<Record<string, string>>,
): string {
  const ids = { organizationId, projectId, deploymentId, callerId, valuesStamp };
  return JSON.stringify({ ...ids, memoryBytes, processes, secrets });
}

export type AdoptionParts = {
  readonly driver: Pick<ServerDriver, "adopt">;
  readonly store: InstanceStore;
  readonly record: InstanceRecord;
  readonly pool: InstancePool;
  readonly pushLine: (row: ServerLine) => void;
  readonly lines: TakenOverLines;
};

/** What an earlier start of this runner left. */
type Found = {
  /** How many of its servers run, and are now this one's. */
  readonly adopted: number;
  /** Deployments whose servers have ended though they were in use. */
  readonly interrupted: readonly string[];
};

/**
 * Takes over the servers that an earlier start of this runner left running, and ends all other leftovers, in the
 * database and on the host. Call it once, before the runner accepts requests.
 */
export async function adoptInstances(parts: AdoptionParts): Promise<Found> {
  const { driver, store, pool } = parts;
  const claims = new Map<string, Claim>();
  const adopted = await driver.adopt(async (survivor) => {
    const claim = await claimOf(survivor, parts);
    if (claim === null) return null;
    claims.set(survivor.instanceId, claim);
    const last = parts.lines.last.get(survivor.instanceId) ?? {};
    return { onOutput: claim.instance.output(), last, fromBeginning: claim.outputFromBeginning };
  });
  for (const { handle, isFrozen } of adopted) {
    const claim = claims.get(handle.instanceId);
    if (claim === undefined) continue;
    claim.instance.resume(handle, claim.readyAt, isFrozen);
    pool.adopt(claim);
  }
  const interrupted = await store.endLost();
  await pool.measure();
  return { adopted: adopted.length, interrupted };
}

type Claim = Adoption & { readonly readyAt: Date | null; readonly outputFromBeginning: () => Promise<OutputSink> };

/** Null if the server must be stopped: its row has ended, or its deployment is gone. */
async function claimOf({ instanceId, memo }: Survivor, parts: AdoptionParts): Promise<Claim | null> {
  const known = memoSchema.safeParse(JSON.parse(memo));
  if (!known.success) return null;
  const { organizationId, projectId, deploymentId, callerId, valuesStamp } = known.data;
  const { memoryBytes, processes, secrets } = known.data;
  const row = await parts.store.claim(instanceId, { deploymentId, callerId });
  if (row === null) return null;
  const redactor = createRedactor(secrets);
  let push = parts.pushLine;
  const log = serverLog({ projectId, deploymentId }, (line) => push(line), redactor);
  const context = { log, redact: redactor.text, limits: { memoryBytes, processes } };
  const instance = new Instance(instanceId, row.startedAt, context, parts.record);
  // How many there may be counts for those that wait.
  const callers = callerId === null ? null : { projectId, most: Number.POSITIVE_INFINITY };
  const server = serverKeyOf({ deploymentId, callerId });
  const adoption = { server, owner: { organizationId, callers }, instance, valuesStamp, failures: row.restarts };
  const outputFromBeginning = async () => {
    push = await parts.lines.unlessStored({ deploymentId, instanceId }, parts.pushLine);
    return instance.output();
  };
  return { ...adoption, readyAt: row.readyAt, outputFromBeginning };
}
