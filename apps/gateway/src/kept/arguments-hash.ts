import { deriveKey, hmacSha256 } from "@towpath/crypto";

/**
 * A hash of a call's tool and arguments, behind the id of its key. The key is derived from the oldest secret that is
 * known: while the instance's secret is replaced, all gateways have that one.
 */
export type HashArguments = (text: string) => string;

export function createArgumentsHash(secret: string, previousSecrets: readonly string[]): HashArguments {
  const { id, bytes } = deriveKey(previousSecrets.at(-1) ?? secret, "kept-call");
  return (text) => `${id}.${hmacSha256(bytes, text)}`;
}

/** Whether a stored hash is of other arguments. One of a secret that is no longer known isn't held against a call. */
export const hasOtherArguments = (stored: string, given: string): boolean =>
  stored !== given && keyOf(stored) === keyOf(given);

const keyOf = (hash: string): string => hash.slice(0, hash.indexOf("."));
