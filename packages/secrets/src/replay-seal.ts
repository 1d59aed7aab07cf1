import { deriveKey, hmacSha256, openWithKeyId, type RootSecrets, sealWithKeyId } from "@towpath/crypto";

/** What a sealed text belongs to: in another row or project it doesn't open. */
type SealedOwner = { readonly projectId: string; readonly id: string };

/** Seals sampled calls and the reports of their replays (CAP-4). */
export type ReplaySeal = {
  seal(owner: SealedOwner, text: string): string;
  /** Null: its secret is no longer known. @throws Error for another owner, and for modified data */
  open(owner: SealedOwner, sealed: string): string | null;
  /** A hash that says nothing about a text to who doesn't know the instance's secret. */
  fingerprint(projectId: string, text: string): string;
};

export function createReplaySeal({ current, previous }: RootSecrets): ReplaySeal {
  const key = deriveKey(current, "call-replay");
  const keys = [key, ...previous.map((secret) => deriveKey(secret, "call-replay"))];
  return {
    seal: (owner, text) => sealWithKeyId(key, text, contextOf(owner)),
    open(owner, sealed) {
      const known = keys.find(({ id }) => sealed.startsWith(`${id}.`));
      return known ? openWithKeyId(known, sealed, contextOf(owner)) : null;
    },
    fingerprint: (projectId, text) => hmacSha256(key.bytes, JSON.stringify([projectId, text])),
  };
}

const contextOf = ({ projectId, id }: SealedOwner): string => JSON.stringify(["towpath/call-replay/v1", projectId, id]);
