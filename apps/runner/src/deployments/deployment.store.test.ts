import { auditLog, instance, requestLog, requestLogSession, route } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { addDeployment, seedDeployment } from "../testing/seed-deployment.ts";
import { deploymentUses, nextRebuild, recentlyRun } from "./deployment.store.ts";

const database = openTestDatabase();

const hour = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

async function ran(...runs: (Date | null)[]): Promise<string> {
  const { deploymentId } = await seedDeployment(database.db, {});
  for (const endedAt of runs) {
    const state = endedAt ? "stopped" : "ready";
    await database.db
      .insert(instance)
      .values({ id: crypto.randomUUID(), deploymentId, state, startedAt: ago(9 * hour), endedAt });
  }
  return deploymentId;
}

test("RUN-3 interpreters wait for servers that run, or ended a short while ago, however long ago they started", async () => {
  const [lately, before] = [ago(1000), ago(hour / 2)];
  await ran(ago(2 * hour));
  const second = await ran(before);
  const running = await ran(ago(3 * hour), null);
  const first = await ran(ago(2 * hour), lately, before);
  const found = await recentlyRun(database.db, { since: ago(hour), limit: 10 });
  expect(found.map(({ deploymentId }) => deploymentId)).toEqual([running, first, second]);
  expect(found.slice(1).map(({ ranAt }) => ranAt)).toEqual([lately, before]);
  expect(Date.now() - (found[0]?.ranAt.getTime() ?? 0)).toBeLessThan(60_000);
  expect(await recentlyRun(database.db, { since: ago(hour), limit: 1 })).toHaveLength(1);
});

test("RUN-8 when lost layers are built again follows from the recorded tries, and is now while a build runs", async () => {
  const seeded = await seedDeployment(database.db);
  const { organizationId, projectId, deploymentId } = seeded;
  const next = () => nextRebuild(database.db, deploymentId);
  expect(await next()).toBeNull();
  const last = ago(60_000);
  await database.db.insert(auditLog).values(
    [ago(hour), ago(hour / 2), last].map((createdAt) => ({
      id: crypto.randomUUID(),
      organizationId,
      projectId,
      actor: "job:sweep",
      action: "build.rebuild",
      detail: { deployment: deploymentId },
      createdAt,
    })),
  );
  expect(await next()).toEqual(new Date(last.getTime() + 4 * 60_000));
  await addDeployment(database.db, seeded, "building");
  expect(await next()).toBeNull();
});

test("BLD-10 a deployment is needed while a route leads to it, its build runs, or a session may be open there", async () => {
  const seeded = await seedDeployment(database.db);
  const { projectId, organizationId, branchId, deploymentId } = seeded;
  const building = await addDeployment(database.db, seeded, "building");
  const replaced = await addDeployment(database.db, seeded);
  const useOf = async (id: string) => (await deploymentUses(database.db, [id])).get(id);
  expect([...(await deploymentUses(database.db, [deploymentId, building, replaced, crypto.randomUUID()]))]).toEqual(
    expect.arrayContaining([
      [deploymentId, "needed"],
      [building, "needed"],
      [replaced, "replaced"],
    ]),
  );

  let key = 0n;
  const seen = async (lastSeen: Date, session: string | null) => {
    key += 1n;
    await database.db.insert(requestLogSession).values({
      projectId,
      key,
      firstSeen: ago(hour),
      lastSeen,
      session,
      userId: 1n,
      principal: "anonymous",
      deploymentId: replaced,
      callerIds: [],
      calls: 1,
      errors: 0,
    });
  };
  // A session formed from calls without an id continues with the newer version; the server has ended the other one.
  await seen(ago(1000), null);
  await seen(ago(hour / 2 + 1000), "long-idle");
  expect(await useOf(replaced)).toBe("replaced");
  const lastSeen = ago(60_000);
  await seen(lastSeen, "open");
  expect(await useOf(replaced)).toBe("needed");
  const row = {
    projectId,
    organizationId,
    deploymentId: replaced,
    session: "open",
    kind: "other",
    principal: "anonymous",
    isError: false,
    outcome: "ok",
    durationMs: 1,
    requestBytes: 0,
    responseBytes: 0,
  };
  const ended = (httpMethod: string, httpStatus: number) =>
    database.db.insert(requestLog).values({ ...row, id: crypto.randomUUID(), time: lastSeen, httpMethod, httpStatus });
  // The server doesn't let clients end sessions.
  await ended("DELETE", 405);
  await ended("POST", 200);
  expect(await useOf(replaced)).toBe("needed");
  await ended("DELETE", 200);
  expect(await useOf(replaced)).toBe("replaced");

  await database.db.delete(route).where(eq(route.branchId, branchId));
  expect(await useOf(deploymentId)).toBe("unrouted");
});
