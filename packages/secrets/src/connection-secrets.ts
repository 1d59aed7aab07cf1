import { createWraps, open, openWraps, rewrap, seal, type Wraps } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { requireValidMasterKey } from "./data-keys.ts";
import type { SecretBox } from "./secret-box.ts";

/** A GitHub connection, to which its secrets are bound: with another row, host, App or version they don't open. */
export type ConnectionBinding = {
  readonly id: string;
  readonly apiUrl: string;
  readonly appId: string;
  readonly version: number;
};

export type SealedConnection = { readonly wraps: Wraps; readonly secretsCiphertext: string };

const contextOfKey = (id: string) => JSON.stringify(["towpath/connection-key/v1", id]);
const contextOf = ({ id, apiUrl, appId, version }: ConnectionBinding) =>
  JSON.stringify(["towpath/connection/v1", id, apiUrl, appId, version]);

/**
 * Seals a text under a key of its own, as the secrets of a connection.
 *
 * @throws WrongMasterKey in a process that still has a key that was replaced
 */
export async function sealConnection(
  tx: Transaction,
  box: SecretBox,
  binding: ConnectionBinding,
  text: string,
): Promise<SealedConnection> {
  await requireValidMasterKey(tx, box);
  const wraps = createWraps(box.masterKeys, contextOfKey(binding.id));
  const key = openWraps(box.masterKeys, wraps, contextOfKey(binding.id));
  return { wraps, secretsCiphertext: seal(key, text, contextOf(binding)) };
}

/** @throws WrongMasterKey; Error for another binding, and for modified data */
export function openConnection(box: SecretBox, sealed: ConnectionBinding & SealedConnection): string {
  const key = openWraps(box.masterKeys, sealed.wraps, contextOfKey(sealed.id));
  return open(key, sealed.secretsCiphertext, contextOf(sealed));
}

/** The key of a connection, sealed with the current master key too. @throws as `openConnection` */
export const rewrapConnection = (
  box: SecretBox,
  { id, wraps }: Pick<ConnectionBinding, "id"> & { wraps: Wraps },
): Wraps => rewrap(box.masterKeys, wraps, contextOfKey(id));
