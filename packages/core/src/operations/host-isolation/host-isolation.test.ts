import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { openOrganization, refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import type { IsolationReport } from "./host-isolation.schema.ts";
import { getHostIsolation, getIsolationWarning, recordHostIsolation } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);

const check = (name: string, ok: boolean) => ({ name, ok, detail: ok ? "tried" : `${name} is missing` });
const report: IsolationReport = {
  trusted: true,
  checks: [
    ...["no host files", "unprivileged user", "own network", "disk limit", "system call filter"].map((name) =>
      check(name, true),
    ),
    ...["memory limit", "cpu limit", "data quota"].map((name) => check(name, false)),
  ],
  exceptions: [{ setting: "TOWPATH_ALLOW_WEAK_LIMITS=yes", meaning: "No limits." }],
  problems: [],
};

test("RUN-1 admins see which protections are active, and when the runner last reported", async () => {
  const ctx = testContext(database.db, organization.owner);
  const input = { orgSlug: organization.slug };
  expect(await getHostIsolation({ ctx, input })).toMatchObject({ reportedAt: null, current: false, protections: [] });
  expect(await getIsolationWarning({ ctx, input })).toBeNull();

  const at = new Date();
  await recordHostIsolation(database.db, {
    host: "a",
    report: { ...report, checks: [] },
    at: new Date(at.getTime() - 9),
  });
  await recordHostIsolation(database.db, { host: "b", report: { ...report, checks: [] }, at });
  await recordHostIsolation(database.db, { host: "b", report, at });
  const view = await getHostIsolation({ ctx, input });
  expect(view).toMatchObject({ reportedAt: at.toISOString(), current: true, isolatedBy: null, trusted: true });
  expect(Object.fromEntries(view.protections.map(({ name, state }) => [name, state]))).toEqual({
    filesystem: "on",
    users: "on",
    network: "on",
    memory: "off",
    cpu: "off",
    processes: "untried",
    disk: "on",
    data: "off",
    "system-calls": "on",
  });
  expect(view.protections.find(({ name }) => name === "memory")?.detail).toContain("memory limit is missing");
  expect(view.exceptions).toEqual(report.exceptions);
  const warnings = ["The clock is off: set it."];
  await recordHostIsolation(database.db, { host: "b", report: { ...report, isolatedBy: "gvisor", warnings }, at });
  expect(await getHostIsolation({ ctx, input })).toMatchObject({ isolatedBy: "gvisor", warnings });
  const viewer = testContext(database.db, await organization.join("viewer"));
  expect(await getIsolationWarning({ ctx: viewer, input })).toEqual({ missing: ["memory", "cpu"], refused: false });

  const later = testContext(database.db, organization.owner, {
    clock: { now: () => new Date(at.getTime() + 120_000) },
  });
  expect(await getHostIsolation({ ctx: later, input })).toMatchObject({ reportedAt: at.toISOString(), current: false });
  expect(await getIsolationWarning({ ctx: later, input })).toBeNull();
});

test("RUN-1 every member sees that a host refuses to run servers", async () => {
  const ctx = testContext(database.db, organization.owner);
  const refusing = { ...report, trusted: false, exceptions: [], problems: ["The limits can't be enforced."] };
  await recordHostIsolation(database.db, { host: "b", report: refusing, at: new Date() });
  expect(await getIsolationWarning({ ctx, input: { orgSlug: organization.slug } })).toMatchObject({ refused: true });
});

test("RUN-1 RUN-7 a cluster that enforces no network policies is without a network protection, and refuses servers if it shall", async () => {
  const ctx = testContext(database.db, organization.owner);
  const input = { orgSlug: organization.slug };
  const open: IsolationReport = {
    ...report,
    isolatedBy: "pods",
    checks: [check("own user", true), check("network policies", false)],
    problems: ["Network policies are not enforced."],
    refuses: false,
  };
  await recordHostIsolation(database.db, { host: "b", report: open, at: new Date() });
  expect(await getIsolationWarning({ ctx, input })).toEqual({ missing: ["network"], refused: false });
  await recordHostIsolation(database.db, { host: "b", report: { ...open, refuses: true }, at: new Date() });
  expect(await getIsolationWarning({ ctx, input })).toEqual({ missing: ["network"], refused: true });
  expect(await getHostIsolation({ ctx, input })).toMatchObject({ refuses: true, problems: open.problems });
});

test("RUN-1 admins of an organization see details of the host, its members the warning", async () => {
  const stranger = await seedOrganization(database.db);
  const input = { orgSlug: organization.slug };
  const member = testContext(database.db, await organization.join("member"));
  expect(await refusalCode(getHostIsolation({ ctx: member, input }))).toBe("forbidden");
  expect(await refusalCode(getHostIsolation({ ctx: testContext(database.db, stranger.owner), input }))).toBe(
    "forbidden",
  );
  expect(await refusalCode(getIsolationWarning({ ctx: testContext(database.db, stranger.owner), input }))).toBe(
    "forbidden",
  );
});
