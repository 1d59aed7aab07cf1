import { auditLog, errorGroup, errorGroupHour } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { openOrganization, refusalCode } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { changeErrorGroups, getErrorGroup, listErrorGroups, listRecentErrors } from "./index.ts";

const suite = openProjectSuite();
const others = openOrganization(suite.database);

const hour = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * hour);

async function seedGroup(title: string, more: Partial<typeof errorGroup.$inferInsert> = {}): Promise<string> {
  const id = newId();
  await suite.database.db.insert(errorGroup).values({
    id,
    projectId: suite.project.id,
    fingerprint: id,
    title,
    method: "tools/call",
    target: "total",
    count: 1,
    firstSeen: ago(48),
    lastSeen: ago(1),
    openedAt: ago(48),
    samples: [{ id: newId(), time: ago(1).toISOString() }],
    callers: [{ name: "anonymous", count: 1 }],
    clients: [],
    ...more,
  });
  return id;
}

let ids: { readonly value: string; readonly key: string; readonly done: string };
beforeEach(async () => {
  ids = {
    value: await seedGroup("ValueError: 50 % off", {
      count: 7,
      exception: "ValueError",
      file: "prices.py",
      line: 3,
      functionName: "parse",
    }),
    key: await seedGroup("KeyError: 'x'", { target: "order", lastSeen: ago(0.5), openedAt: ago(2), firstSeen: ago(2) }),
    done: await seedGroup("OSError: no", { state: "resolved", resolvedAt: ago(3), lastSeen: ago(5) }),
  };
});

const viewer = async () => suite.as(await suite.organization.join("viewer"));
const member = async () => suite.as(await suite.organization.join("member"));

test("CAP-6 viewers list errors by state, tool and text, in each order, with the failures of the last day", async () => {
  const ctx = await viewer();
  const list = async (input: object = {}) => listErrorGroups({ ctx, input: { ...suite.at(), ...input } });
  const titles = async (input: object) => (await list(input)).data.map(({ id }) => id);
  const hours = [
    { groupId: ids.value, time: new Date(Math.floor(Date.now() / hour) * hour), count: 4 },
    { groupId: ids.value, time: new Date(Math.floor(Date.now() / hour) * hour - 23 * hour), count: 2 },
    { groupId: ids.value, time: new Date(Math.floor(Date.now() / hour) * hour - 40 * hour), count: 1 },
  ];
  await suite.database.db.insert(errorGroupHour).values(hours);
  const page = await list();
  expect(page).toMatchObject({ total: 2, counts: { open: 2, resolved: 1, ignored: 0 }, tools: ["order", "total"] });
  expect(page.data.map(({ id }) => id)).toEqual([ids.key, ids.value]);
  expect(page.data[1]).toMatchObject({
    frame: { file: "prices.py", line: 3, name: "parse" },
    lastDay: [2, ...Array(22).fill(0), 4],
  });
  expect(await titles({ sort: "count" })).toEqual([ids.value, ids.key]);
  expect(await titles({ sort: "firstSeen" })).toEqual([ids.key, ids.value]);
  expect(await titles({ state: "all" })).toHaveLength(3);
  expect(await titles({ state: "resolved" })).toEqual([ids.done]);
  expect(await titles({ tool: "order" })).toEqual([ids.key]);
  expect(await titles({ search: "50 % OFF" })).toEqual([ids.value]);
  expect(await titles({ search: "PARSE" })).toEqual([ids.value]);
  expect(await titles({ search: "%" })).toEqual([ids.value]);
  expect((await list({ limit: 1, offset: 1 })).data.map(({ id }) => id)).toEqual([ids.value]);
  expect(await refusalCode(list({ state: "gone" }))).toBe("invalid_input");
  const detail = await getErrorGroup({ ctx, input: { ...suite.at(), errorId: ids.value } });
  expect(detail).toMatchObject({ callers: [{ name: "anonymous", count: 1 }], samples: [{ id: expect.any(String) }] });
  expect(detail.lastMonth).toHaveLength(30);
  expect(detail.lastMonth.reduce((sum, each) => sum + each, 0)).toBe(7);
});

test("CAP-6 an overview has what is new or back in the last 24 hours", async () => {
  const ctx = await viewer();
  const recent = () => listRecentErrors({ ctx, input: suite.at() });
  expect(await recent()).toMatchObject({ total: 1, data: [{ id: ids.key }] });
  for (const title of ["a", "b", "c"]) await seedGroup(title, { openedAt: ago(1), isBack: true });
  await seedGroup("ignored", { openedAt: ago(1), state: "ignored" });
  const { total, data } = await recent();
  expect([total, data.length]).toEqual([4, 3]);
});

test("CAP-6 members resolve, ignore and reopen several, which is audited; viewers and others can't", async () => {
  const ctx = await member();
  const change = (state: "open" | "resolved" | "ignored", ...of: string[]) =>
    changeErrorGroups({ ctx, input: { ...suite.at(), ids: of, state } });
  const [deployment] = [newId()];
  await suite.database.db.update(errorGroup).set({ lastDeploymentId: deployment }).where(eq(errorGroup.id, ids.value));
  expect(await change("resolved", ids.value, ids.key, ids.done)).toEqual({ changed: 2 });
  const row = async () => (await suite.database.db.select().from(errorGroup).where(eq(errorGroup.id, ids.value)))[0];
  expect(await row()).toMatchObject({
    state: "resolved",
    resolvedAt: expect.any(Date),
    resolvedDeploymentId: deployment,
  });
  expect(await change("open", ids.value)).toEqual({ changed: 1 });
  expect(await row()).toMatchObject({ state: "open", resolvedAt: null, resolvedDeploymentId: null });
  expect(await change("ignored", ids.value)).toEqual({ changed: 1 });
  const audits = await suite.database.db.select().from(auditLog).where(eq(auditLog.projectId, suite.project.id));
  expect(audits.map(({ action }) => action).sort()).toEqual([
    "error.ignore",
    "error.reopen",
    "error.resolve",
    "error.resolve",
  ]);
  expect(audits.find(({ action }) => action === "error.ignore")?.detail).toEqual({
    error: ids.value,
    title: "ValueError: 50 % off",
  });

  expect(await refusalCode(change("open", ids.value, newId()))).toBe("not_found");
  expect((await row())?.state).toBe("ignored");
  expect(await refusalCode(change("open"))).toBe("invalid_input");
  expect(await refusalCode(change("gone" as "open", ids.value))).toBe("invalid_input");
  const by = async (actor: typeof others.owner, verb: "read" | "change") => {
    const as = suite.as(actor);
    return verb === "read"
      ? refusalCode(getErrorGroup({ ctx: as, input: { ...suite.at(), errorId: ids.value } }))
      : refusalCode(changeErrorGroups({ ctx: as, input: { ...suite.at(), ids: [ids.value], state: "open" } }));
  };
  expect(await by((await viewer()).actor, "change")).toBe("forbidden");
  expect(await by(others.owner, "read")).toBe("not_found");
  expect(await by(others.owner, "change")).toBe("not_found");
  const missing = getErrorGroup({ ctx, input: { ...suite.at(), errorId: "x" } });
  expect(await refusalCode(missing)).toBe("not_found");
});
