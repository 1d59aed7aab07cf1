import { createWraps, open, openWraps, rewrap, seal, type Wraps } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { requireValidMasterKey } from "./data-keys.ts";
import type { SecretBox } from "./secret-box.ts";

/** A channel of alerts, to which its secrets are bound: in another row or organization they don't open. */
type ChannelBinding = { readonly id: string; readonly organizationId: string };

type SealedChannel = { readonly wraps: Wraps; readonly sealed: string };

const contextOfKey = ({ id, organizationId }: ChannelBinding) =>
  JSON.stringify(["towpath/alert-channel-key/v1", organizationId, id]);
const contextOf = ({ id, organizationId }: ChannelBinding) =>
  JSON.stringify(["towpath/alert-channel/v1", organizationId, id]);

/**
 * Seals a text under a new key, as the address and signing secret of a channel.
 *
 * @throws WrongMasterKey in a process that still has a key that was replaced
 */
export async function sealChannel(
  tx: Transaction,
  box: SecretBox,
  binding: ChannelBinding,
  text: string,
): Promise<SealedChannel> {
  await requireValidMasterKey(tx, box);
  const wraps = createWraps(box.masterKeys, contextOfKey(binding));
  const key = openWraps(box.masterKeys, wraps, contextOfKey(binding));
  return { wraps, sealed: seal(key, text, contextOf(binding)) };
}

/** @throws WrongMasterKey; Error for another binding, and for modified data */
export function openChannel(box: SecretBox, channel: ChannelBinding & SealedChannel): string {
  const key = openWraps(box.masterKeys, channel.wraps, contextOfKey(channel));
  return open(key, channel.sealed, contextOf(channel));
}

/** The key of a channel, sealed with the current master key too. @throws as `openChannel` */
export const rewrapChannel = (box: SecretBox, channel: ChannelBinding & { readonly wraps: Wraps }): Wraps =>
  rewrap(box.masterKeys, channel.wraps, contextOfKey(channel));
