import {
  createWraps,
  type MasterKeys,
  masterKeyOf,
  masterKeysOf,
  open,
  openWithKeyId,
  openWraps,
  type RootSecrets,
  rewrap,
  seal,
  type Wraps,
} from "@towpath/crypto";
import { createReplaySeal, type ReplaySeal } from "./replay-seal.ts";

/**
 * Authenticated data of a ciphertext: with another organization, project, variable, name, version or environment it
 * doesn't decrypt (KEY-2).
 */
export type SecretBinding = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly secretId: string;
  readonly keyName: string;
  readonly version: number;
  readonly environments: readonly string[];
};

/** A row of `data_key`. */
export type DataKey = {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly wraps: Wraps;
};

export type SecretBox = {
  readonly masterKeys: MasterKeys;
  readonly replays: ReplaySeal;
  newDataKey(owner: Omit<DataKey, "wraps">): DataKey;
  /** The data key's wraps, with one by the current master key. */
  rewrap(dataKey: DataKey): Wraps;
  /** `v2.{id of the data key}.nonce.ciphertext.tag`; the last three base64url. */
  encrypt(value: string, dataKey: DataKey, binding: SecretBinding): string;
  /**
   * Never returns an empty value in place of one that doesn't open.
   *
   * @throws Error naming the variable, for another key, another binding or a modified ciphertext
   */
  decrypt(stored: SecretBinding & { readonly ciphertext: string }, dataKey: DataKey | null): string;
};

const format = "v2";

/** Whether a ciphertext was made before there were data keys: `{id of the master key}.nonce.ciphertext.tag`. */
export const isSealedByMasterKey = (ciphertext: string): boolean => !ciphertext.startsWith(`${format}.`);

/** Encrypts the variables of projects: values with the project's data key, data keys with the instance's master key. */
export function createSecretBox(secrets: RootSecrets): SecretBox {
  const masterKeys = masterKeysOf(secrets);
  return {
    masterKeys,
    replays: createReplaySeal(secrets),
    newDataKey: (owner) => ({ ...owner, wraps: createWraps(masterKeys, contextOfKey(owner)) }),
    rewrap: (dataKey) => rewrap(masterKeys, dataKey.wraps, contextOfKey(dataKey)),
    encrypt(value, dataKey, binding) {
      const key = openWraps(masterKeys, dataKey.wraps, contextOfKey(dataKey));
      return `${format}.${dataKey.id}.${seal(key, value, contextOf(binding))}`;
    },
    decrypt(stored, dataKey) {
      try {
        return isSealedByMasterKey(stored.ciphertext)
          ? openEarlier(masterKeys, stored)
          : openValue(masterKeys, stored, dataKey);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`secret ${stored.keyName} can't be decrypted: ${reason}`, { cause: error });
      }
    },
  };
}

type Stored = SecretBinding & { readonly ciphertext: string };

function openValue(masterKeys: MasterKeys, stored: Stored, dataKey: DataKey | null): string {
  const [, keyId = "", ...sealed] = stored.ciphertext.split(".");
  if (dataKey?.id !== keyId) throw new Error(`its data key ${keyId} is missing`);
  const key = openWraps(masterKeys, dataKey.wraps, contextOfKey(dataKey));
  return open(key, sealed.join("."), contextOf(stored));
}

function openEarlier(masterKeys: MasterKeys, stored: Stored): string {
  const { projectId, keyName, version, environments, ciphertext } = stored;
  const key = masterKeyOf(masterKeys, ciphertext.split(".", 1)[0] ?? "");
  const context = ["towpath/secret/v1", projectId, keyName, version, environments.toSorted()];
  return openWithKeyId(key, ciphertext, JSON.stringify(context));
}

function contextOf({ organizationId, projectId, secretId, keyName, version, environments }: SecretBinding): string {
  const parts = [organizationId, projectId, secretId, keyName, version, environments.toSorted()];
  return JSON.stringify(["towpath/secret/v2", ...parts]);
}

const contextOfKey = ({ id, organizationId, projectId }: Omit<DataKey, "wraps">): string =>
  JSON.stringify(["towpath/data-key/v1", organizationId, projectId, id]);

/** The length of the value in a ciphertext, in bytes of UTF-8: GCM doesn't change it. */
export const valueBytes = (ciphertext: string): number =>
  Buffer.byteLength(ciphertext.split(".").at(-2) ?? "", "base64url");
