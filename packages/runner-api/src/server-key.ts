import { z } from "zod";

/**
 * Names a server at the runner: that of a deployment, by the deployment's id, or a caller's own instance of it (CAP-1).
 * Both ids are UUIDs.
 */
export type ServerKey = string;

type Parts = { readonly deploymentId: string; readonly callerId: string | null };

/** `callerId`: the person's id; null: the server that all callers share. */
export const serverKeyOf = ({ deploymentId, callerId }: Parts): ServerKey =>
  callerId === null ? deploymentId : `${deploymentId}_${callerId}`;

export function partsOf(key: ServerKey): Parts {
  const [deploymentId = "", callerId = null] = key.split("_", 2);
  return { deploymentId, callerId };
}

/** Whether it is this person's own instance; null: anybody's own. */
export function isOfCaller(key: ServerKey, callerId: string | null): boolean {
  const own = partsOf(key).callerId;
  return own !== null && (callerId === null || own === callerId);
}

const idSchema = z.uuid();

export function isServerKey(text: string): boolean {
  const { deploymentId, callerId } = partsOf(text);
  return idSchema.safeParse(deploymentId).success && (callerId === null || idSchema.safeParse(callerId).success);
}
