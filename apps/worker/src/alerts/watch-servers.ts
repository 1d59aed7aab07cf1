import { listWatchedProjects, raiseAlert, recordLatency } from "@towpath/core/operations/alert";
import { findSignInLoops, recentLatency, recentlyCalled } from "@towpath/logs";
import { jobContext, type Services } from "../services.ts";

/** Looks for what is seen only over time: slow calls, and clients whose sign-ins loop. Where somebody wants to know. */
export async function watchServers(services: Services, signal: AbortSignal): Promise<void> {
  await watchLatency(services, signal);
  if (!signal.aborted) await watchSignIns(services);
}

async function watchLatency(services: Services, signal: AbortSignal): Promise<void> {
  const ctx = jobContext(services, "alerts");
  const { pool } = services.database;
  const watched = await listWatchedProjects({ ctx, input: { kind: "latency.band" } });
  const called = new Set(
    await recentlyCalled(
      pool,
      watched.map(({ id }) => id),
    ),
  );
  for (const { id, isSlow } of watched) {
    if (signal.aborted) return;
    if (!isSlow && !called.has(id)) continue;
    const measured = await recentLatency(pool, id);
    await recordLatency({ ctx, input: { projectId: id, ...measured } });
  }
}

async function watchSignIns(services: Services): Promise<void> {
  const ctx = jobContext(services, "alerts");
  const watched = await listWatchedProjects({ ctx, input: { kind: "sign-in.loop" } });
  const loops = await findSignInLoops(
    services.database.pool,
    watched.map(({ id }) => id),
  );
  for (const loop of loops)
    await ctx.db.transaction((tx) => raiseAlert(tx, { kind: "sign-in.loop", ...loop }, ctx.clock.now()));
}
