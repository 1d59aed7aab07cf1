import type { DomainNames } from "../../ports/index.ts";
import { ownershipName } from "./domain.view.ts";

/** Why a record wasn't seen, for its owner; null: it was. `isUnknown`: the DNS gave no answer. */
type Seen = { readonly problem: string | null; readonly isUnknown: boolean };
/** `texts`: all that the record of ownership has, of whichever server they are. */
export type LookedUp = { readonly ownership: Seen; readonly address: Seen; readonly texts: readonly string[] };

const seen: Seen = { problem: null, isUnknown: false };
const missing = (problem: string): Seen => ({ problem, isUnknown: false });
const unknown: Seen = {
  problem: "The DNS didn't answer. It is asked again by itself.",
  isUnknown: true,
};

type Expected = {
  readonly name: string;
  /** The text that shows whose the name is. */
  readonly value: string;
  /** The server's ordinary host. */
  readonly host: string;
};

/** Looks up whether a name has the records that were asked for. Never fails. */
export async function lookUp(names: DomainNames, { name, value, host }: Expected): Promise<LookedUp> {
  const texts = await names.texts(ownershipName(name)).catch(() => null);
  const ownership = texts === null ? unknown : seenIn(texts, value);
  const isOwner = ownership.problem === null;
  const address = await lookUpAddress(names, { name, host, isOwner }).catch(() => unknown);
  return { ownership, address, texts: texts ?? [] };
}

function seenIn(texts: readonly string[], value: string): Seen {
  if (texts.includes(value)) return seen;
  if (texts.length === 0) return missing("There is no such record yet. New records can take minutes to be seen.");
  return missing("There is a record with another value. Replace it, or add one.");
}

/** Only the owner reads where it leads: this machine's DNS may know names and addresses that nobody else should. */
async function lookUpAddress(
  names: DomainNames,
  { name, host, isOwner }: Pick<Expected, "name" | "host"> & { readonly isOwner: boolean },
): Promise<Seen> {
  const [alias, addresses, own] = await Promise.all([
    names.alias(name),
    names.addresses(name),
    names.addresses(host).catch((): readonly string[] => []),
  ]);
  if (alias === host || addresses.some((address) => own.includes(address))) return seen;
  if (alias === null && addresses.length === 0)
    return missing("There is no such record yet. New records can take minutes to be seen.");
  const found = isOwner ? (alias ?? addresses.slice(0, 3).join(", ")) : "another place";
  return missing(
    `The name leads to ${found}. That is right only if it is a proxy that passes requests on to ${host} with the same host name.`,
  );
}
