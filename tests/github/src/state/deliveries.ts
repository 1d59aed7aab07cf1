import { z } from "zod";
import { type Database, timestamp } from "./database.ts";

const deliveryRowSchema = z.object({
  id: z.number(),
  guid: z.string(),
  event: z.string(),
  action: z.string().nullable(),
  installation_id: z.number().nullable(),
  repository_id: z.number().nullable(),
  /** The exact bytes that are signed and sent. */
  body: z.string(),
  redelivery: z.number().transform((value) => value === 1),
  state: z.enum(["pending", "delivered", "failed"]),
  attempts: z.number(),
  status: z.string(),
  status_code: z.number(),
  delivered_at: z.string(),
});
export type Delivery = z.infer<typeof deliveryRowSchema>;

export type NewDelivery = Pick<Delivery, "guid" | "event" | "action" | "installation_id" | "repository_id" | "body"> & {
  redelivery: boolean;
};

export function insertDelivery(database: Database, input: NewDelivery): number {
  const { id } = database.run(
    `INSERT INTO delivery (guid, event, action, installation_id, repository_id, body, redelivery, state, next_attempt_at_ms, delivered_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    input.guid,
    input.event,
    input.action,
    input.installation_id,
    input.repository_id,
    input.body,
    input.redelivery ? 1 : 0,
    Date.now(),
    timestamp(),
  );
  return id;
}

export function findDelivery(database: Database, id: number): Delivery | null {
  return database.get(deliveryRowSchema, "SELECT * FROM delivery WHERE id = ?", id);
}

/** Newest first, older than `before`. */
export function listDeliveries(database: Database, before: number, limit: number): Delivery[] {
  return database.all(deliveryRowSchema, "SELECT * FROM delivery WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit);
}

/** The oldest due delivery. */
export function nextDue(database: Database, nowMs: number): Delivery | null {
  const sql = "SELECT * FROM delivery WHERE state = 'pending' AND next_attempt_at_ms <= ? ORDER BY id LIMIT 1";
  return database.get(deliveryRowSchema, sql, nowMs);
}

/** When the next pending delivery is due; null if there is none. */
export function nextDueAt(database: Database): number | null {
  const sql = "SELECT min(next_attempt_at_ms) AS at FROM delivery WHERE state = 'pending'";
  return database.get(z.object({ at: z.number().nullable() }), sql)?.at ?? null;
}

export type Attempt = { state: Delivery["state"]; status: string; statusCode: number; nextAttemptAtMs: number };

export function recordAttempt(database: Database, id: number, attempt: Attempt): void {
  database.run(
    `UPDATE delivery SET state = ?, status = ?, status_code = ?, attempts = attempts + 1, next_attempt_at_ms = ?, delivered_at = ?
     WHERE id = ?`,
    attempt.state,
    attempt.status,
    attempt.statusCode,
    attempt.nextAttemptAtMs,
    timestamp(),
    id,
  );
}
