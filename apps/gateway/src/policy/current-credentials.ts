import {
  type ApiKeyChecker,
  apiKeyChannel,
  type GrantChecker,
  type MembershipChecker,
  memberChannel,
  oauthGrantChannel,
} from "@towpath/auth/credentials";
import { type WorkloadChecker, workloadChannel } from "@towpath/auth/workloads";
import type { Notifications } from "@towpath/db/notifications";

/** How often the last uses of OAuth grants and workload identities are stored. */
const usesEveryMs = 30_000;
/** How often every known credential is confirmed again, so that all are recent when an outage begins. */
const refreshEveryMs = 60_000;

type CredentialCheckers = {
  apiKeys: ApiKeyChecker;
  members: MembershipChecker;
  grants: GrantChecker;
  workloads: WorkloadChecker;
};

/**
 * Confirms known credentials again when the database reports a change, and once a minute. `onMayHaveChanged` is called
 * with whether one certainly has. Returns a function that stops it.
 */
export function keepCredentialsCurrent(
  { apiKeys, members, grants, workloads }: CredentialCheckers,
  notifications: Notifications,
  onMayHaveChanged: (isCertain: boolean) => void,
): () => void {
  const changing = (caches: readonly { changed: () => void; connected: () => void }[]) => (payload?: string) => {
    const isNotified = payload !== undefined;
    for (const cache of caches) cache[isNotified ? "changed" : "connected"]();
    onMayHaveChanged(isNotified);
  };
  const stops = [
    notifications.subscribe({ channel: apiKeyChannel }, changing([apiKeys.cache])),
    notifications.subscribe({ channel: memberChannel }, changing([members.cache, grants.cache])),
    notifications.subscribe({ channel: oauthGrantChannel }, changing([grants.cache])),
    notifications.subscribe({ channel: workloadChannel }, changing([workloads.cache])),
  ];
  const uses = setInterval(() => {
    for (const each of [grants, workloads]) void each.storeUses();
  }, usesEveryMs).unref();
  const refreshes = setInterval(() => {
    for (const { cache } of [apiKeys, members, grants, workloads]) void cache.refresh();
  }, refreshEveryMs).unref();
  return () => {
    for (const stop of stops) stop();
    clearInterval(uses);
    clearInterval(refreshes);
  };
}
