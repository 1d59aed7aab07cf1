import { z } from "zod";
import { isRole, type RoleName } from "./role-process.ts";

// What `up` and the commands that control it say to each other. They may be of two releases, so this changes by optional
// fields only.

const role = z.custom<RoleName>((value) => typeof value === "string" && isRole(value));

/** A running instance, for its owner: has the password of an external database. */
export const instanceStateSchema = z.object({
  /** The release of its processes; that of `up` itself may be an earlier one. */
  release: z.string(),
  /** Past a pooler. */
  databaseUrl: z.string(),
  /** Directory of the embedded PostgreSQL; null: an external one. */
  clusterDirectory: z.string().nullable(),
});
export type InstanceState = z.infer<typeof instanceStateSchema>;

export const replacementSchema = z.object({
  release: z.string(),
  /** In this order, one after another. */
  roles: z.array(z.object({ name: role, command: z.array(z.string()).min(1) })),
});
export type Replacement = z.infer<typeof replacementSchema>;

/** One line each of the answer to a replacement. */
export const replacementEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("replaced"), role }),
  /** `isFormerRunning`: the former process goes on. No further role is replaced. */
  z.object({ type: z.literal("failed"), role, reason: z.string(), isFormerRunning: z.boolean() }),
  z.object({ type: z.literal("done") }),
]);
export type ReplacementEvent = z.infer<typeof replacementEventSchema>;
