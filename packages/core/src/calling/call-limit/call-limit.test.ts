import { auditLog, callLimit } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { type Actor, roles } from "../../context/index.ts";
import { refusalCode, seedOrganization } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { getCallLimits, saveCallLimits } from "./index.ts";

const callLimits = {
  caller: { perMinute: 600, burst: 100 },
  server: { perMinute: 3000, burst: 300 },
  organization: null,
};
const few = { perMinute: 30, burst: 5 };

const suite = openProjectSuite({ callLimits });
const { as, at } = suite;
type Input = Parameters<typeof saveCallLimits>[0]["input"];
const save = (limits: object, actor: Actor = suite.organization.owner) =>
  saveCallLimits({ ctx: as(actor), input: { ...at(), caller: null, server: null, ...limits } as Input });
const read = (actor: Actor = suite.organization.owner) => getCallLimits({ ctx: as(actor), input: at() });

test("GW-8 without limits of its own a server has the instance's, and nothing is stored", async () => {
  expect(await read()).toEqual({ caller: null, server: null, instance: callLimits, revision: 0 });
  expect(await suite.database.db.$count(callLimit, eq(callLimit.projectId, suite.project.id))).toBe(0);
});

test("GW-8 ORG-10 saved limits are read back, given up again, and the audit log says how they were", async () => {
  const saved = await save({ caller: few });
  expect(saved).toEqual({ caller: few, server: null, instance: callLimits, revision: 1 });
  expect(await read()).toEqual(saved);
  expect(await save({ server: few })).toMatchObject({ caller: null, server: few, revision: 2 });
  expect(await save({})).toMatchObject({ caller: null, server: null, revision: 3 });
  const entries = await suite.database.db
    .select({ detail: auditLog.detail })
    .from(auditLog)
    .where(and(eq(auditLog.projectId, suite.project.id), eq(auditLog.action, "limit.update")))
    .orderBy(auditLog.createdAt, auditLog.id);
  expect(entries.map(({ detail }) => detail)).toEqual([
    { before: { caller: null, server: null }, after: { caller: few, server: null } },
    { before: { caller: few, server: null }, after: { caller: null, server: few } },
    { before: { caller: null, server: few }, after: { caller: null, server: null } },
  ]);
});

test("GW-8 nobody sets more than the instance allows, nor what is no number of calls; the field is named", async () => {
  const wrong: [object, string][] = [
    [{ caller: { perMinute: 601, burst: 1 } }, "caller.perMinute"],
    [{ caller: { perMinute: 1, burst: 101 } }, "caller.burst"],
    [{ server: { perMinute: 3001, burst: 1 } }, "server.perMinute"],
    [{ caller: { perMinute: 0, burst: 1 } }, "caller.perMinute"],
    [{ caller: { perMinute: 1.5, burst: 1 } }, "caller.perMinute"],
    [{ server: { perMinute: 1, burst: -1 } }, "server.burst"],
    [{ server: { perMinute: 1 } }, "server.burst"],
    [{ server: undefined }, "server"],
  ];
  for (const [limits, field] of wrong) {
    const error = await save(limits).catch((thrown: unknown) => thrown);
    expect([limits, error]).toMatchObject([limits, { code: "invalid_input", fields: { [field]: expect.any(String) } }]);
  }
  const far = await save({ caller: { perMinute: 10_000_001, burst: 1 } }).catch((thrown: unknown) => thrown);
  expect(far).toMatchObject({ fields: { "caller.perMinute": "Calls a minute must be 10,000,000 or less" } });
  expect((await read()).revision).toBe(0);
});

test("GW-8 when two people change them at once, the second gets a conflict and changes nothing", async () => {
  await save({ caller: few, revision: 0 });
  expect(await refusalCode(save({ server: few, revision: 0 }))).toBe("conflict");
  expect(await read()).toMatchObject({ caller: few, server: null, revision: 1 });
});

test("GW-8 admins set limits, members and viewers see them, other organizations neither", async () => {
  const outcome = (verb: Promise<unknown>) =>
    verb.then(
      () => "done",
      (error: { code: string }) => error.code,
    );
  const of = await Promise.all(
    roles.map(async (role) => {
      const actor = await suite.organization.join(role);
      return [role, [await outcome(read(actor)), await outcome(save({ caller: few }, actor))]];
    }),
  );
  expect(Object.fromEntries(of)).toEqual({
    owner: ["done", "done"],
    admin: ["done", "done"],
    member: ["done", "forbidden"],
    viewer: ["done", "forbidden"],
  });
  const others = await seedOrganization(suite.database.db);
  expect([await refusalCode(read(others.owner)), await refusalCode(save({}, others.owner))]).toEqual([
    "not_found",
    "not_found",
  ]);
});
