import { createHash, randomInt } from "node:crypto";
import type { Identity } from "./arguments.ts";

// systemd's table of user ids leaves 1,879,048,192 to 2,147,483,647 to nobody: no account, no dynamic user, no container
// range is in it. Ids need not be unique to be safe (namespaces separate processes), only unlikely to meet.
const firstUid = 1_879_048_192;
const uidCount = 2 ** 27;

/** The user id inside when the platform is not root; outside it is then the platform's own. */
const unprivilegedUid = 10_001;

/** The user of a sandbox: from its identity, else one at random. */
export function sandboxIdentity(root: boolean, identity: string | undefined): Identity {
  if (!root) return { uid: unprivilegedUid, gid: unprivilegedUid };
  const offset =
    identity === undefined
      ? randomInt(uidCount)
      : createHash("sha256").update(identity).digest().readUInt32BE(0) % uidCount;
  return { uid: firstUid + offset, gid: firstUid + offset };
}
