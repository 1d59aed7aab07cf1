import { createAlertChannel } from "@towpath/core/operations/alert";
import { seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { alertEvent } from "@towpath/db/schema";
import { createAddressPolicy, createWebhookPoster } from "@towpath/egress";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { createSecretBox } from "@towpath/secrets";
import { inArray } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type LocalInstance, openLocalInstance } from "../testing/local-instance.ts";

let instance: LocalInstance;
beforeAll(async () => {
  instance = await openLocalInstance();
});
afterAll(() => instance.close());

const minuteMs = 60_000;

/** A server whose calls have become slow, and to which a client signs in again and again. */
async function seedTroubled(organization: Awaited<ReturnType<typeof seedOrganization>>): Promise<string> {
  const { db, pool } = instance.database;
  const { id: projectId } = await seedProject(db, organization);
  const now = Date.now();
  const calls = (count: number, agoMs: number, durationMs: number) =>
    Array.from({ length: count }, () => requestLogRow({ projectId, time: now - agoMs, durationMs }));
  const rows = [...calls(60, 5 * minuteMs, 2000), ...calls(80, 30 * 60 * minuteMs, 100)];
  for (const { time } of rows) await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [new Date(time)]);
  await writeRequestLogs(pool, rows);
  for (let count = 0; count < 6; count++)
    await pool.query(
      `INSERT INTO sign_in_step (time, project_id, kind, is_proven, client_id, client_name)
       VALUES (now() - $2 * interval '1 minute', $1, 'authorization', false, 'c', 'Friendly app')`,
      [projectId, count],
    );
  return projectId;
}

test.runIf(isThorough)(
  "CAP-6 a worker raises slow calls and sign-in loops of servers of which a channel gets them, and of no other",
  async () => {
    const { db, pool } = instance.database;
    const [watched, other] = [await seedOrganization(db), await seedOrganization(db)];
    const projectId = await seedTroubled(watched);
    const unwatched = await seedTroubled(other);
    while ((await foldRequestLogs(pool)) > 0);
    const ctx = testContext(db, watched.owner, {
      secrets: createSecretBox({ current: instance.rootSecret, previous: [] }),
      webhooks: createWebhookPoster(createAddressPolicy(["127.0.0.0/8"])),
    });
    const input = { orgSlug: watched.slug, name: "A", format: "standard", url: "http://127.0.0.1:1/" } as const;
    await createAlertChannel({ ctx, input: { ...input, events: ["latency.band", "sign-in.loop"] } });
    await instance.start("worker");
    const { kind, detail } = alertEvent;
    const events = () =>
      db
        .select({ kind, projectId: alertEvent.projectId, detail })
        .from(alertEvent)
        .where(inArray(alertEvent.projectId, [projectId, unwatched]))
        .orderBy(kind);
    await expect.poll(events, { timeout: 30_000 }).toMatchObject([
      { kind: "latency.band", projectId, detail: { calls: 60 } },
      { kind: "sign-in.loop", projectId, detail: { client: "Friendly app", starts: 6 } },
    ]);
    await instance.stop("worker");
  },
  60_000,
);
