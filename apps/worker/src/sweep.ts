import { requeueLostBuilds } from "@towpath/core/delivery/build";
import { requeueLostReplays } from "@towpath/core/delivery/replay";
import { requeueLostDeliveries, requeueLostHints } from "@towpath/core/sources/webhook";
import { hasEnded } from "@towpath/runtime/process";
import { jobContext, type Services } from "./services.ts";

/** A build without a heartbeat for this long is requeued, at once if its worker is known to have ended. */
const staleBuildMs = 20_000;
const lostDeliveryMs = 120_000;
const lostReplayMs = 300_000;

/** Requeues unfinished work of killed processes. Every step is idempotent and safe beside other workers' sweeps. */
export async function sweep(services: Services): Promise<void> {
  const ctx = jobContext(services, "sweep");
  const builds = await requeueLostBuilds({ ctx, input: { staleMs: staleBuildMs, hasEnded } });
  const deliveries = await requeueLostDeliveries({ ctx, input: { olderThanMs: lostDeliveryMs } });
  const branches = await requeueLostHints({ ctx, input: { olderThanMs: lostDeliveryMs } });
  const replays = await requeueLostReplays({ ctx, input: { olderThanMs: lostReplayMs } });
  const found = [builds.requeued, builds.failed, deliveries.requeued, branches.requeued, replays.requeued];
  if (found.some((each) => each.length > 0)) {
    const lost = { ...builds, deliveries: deliveries.requeued, branches: branches.requeued, replays: replays.requeued };
    services.log.warn(lost, "sweep found lost work");
  }
  // Ahead of time: rows of a day without a partition land in the default one and then block creating the day's.
  await services.database.pool.query(
    "SELECT towpath_ensure_log_partitions(day::date) FROM generate_series(now(), now() + interval '2 days', interval '1 day') day",
  );
}
