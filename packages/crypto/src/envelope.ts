import { randomBytes } from "node:crypto";
import { deriveKey, type Key } from "./keys.ts";
import { open, seal } from "./seal.ts";

/** Root secrets of an instance: the current one, and earlier ones that may still have sealed data. */
export type RootSecrets = { readonly current: string; readonly previous: readonly string[] };

/** The keys that seal data keys. */
export type MasterKeys = { readonly current: Key; readonly all: readonly [Key, ...Key[]] };

/** A data key as stored: by id of the master key, sealed with it. */
export type Wraps = Readonly<Record<string, string>>;

/** None of the configured keys opens the stored data. The message names both by their ids. */
export class WrongMasterKey extends Error {
  override readonly name = "WrongMasterKey";
}

export function masterKeysOf({ current, previous }: RootSecrets): MasterKeys {
  const key = deriveKey(current, "project-secret");
  return { current: key, all: [key, ...previous.map((secret) => deriveKey(secret, "project-secret"))] };
}

/** @throws WrongMasterKey when the key of that id is not configured */
export function masterKeyOf({ all }: MasterKeys, id: string): Key {
  const key = all.find((each) => each.id === id);
  if (key) return key;
  throw new WrongMasterKey(`sealed with another key (${id || "none"}, not ${idsOf(all)})`);
}

const idsOf = (keys: readonly Key[]) => keys.map(({ id }) => id).join(" or ");

/**
 * A new data key, sealed with every configured master key: while one is being replaced, processes that have only one of
 * the two can open it. `context`: see `seal`.
 */
export const createWraps = (keys: MasterKeys, context: string): Wraps =>
  completeWraps(keys, {}, context, randomBytes(32));

/** The same data key, sealed with the current master key too. @throws as `openWraps` */
export function rewrap(keys: MasterKeys, wraps: Wraps, context: string): Wraps {
  return completeWraps({ ...keys, all: [keys.current] }, wraps, context, openWraps(keys, wraps, context).bytes);
}

function completeWraps({ all }: MasterKeys, wraps: Wraps, context: string, bytes: Uint8Array): Wraps {
  const text = Buffer.from(bytes).toString("base64url");
  return { ...Object.fromEntries(all.map((key) => [key.id, seal(key, text, context)])), ...wraps };
}

/**
 * Opens a data key with the first configured master key that it is sealed with.
 *
 * @throws WrongMasterKey if there is none; Error for another context or modified data
 */
export function openWraps({ all }: MasterKeys, wraps: Wraps, context: string): Key {
  const key = all.find(({ id }) => wraps[id] !== undefined);
  const sealed = key && wraps[key.id];
  if (!key || sealed === undefined) {
    throw new WrongMasterKey(`sealed with another key (${Object.keys(wraps).join(", ") || "none"}, not ${idsOf(all)})`);
  }
  return { id: key.id, bytes: Buffer.from(open(key, sealed, context), "base64url") };
}
