import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNotifications } from "@towpath/db/notifications";
import { openTestDatabase } from "@towpath/db/testing";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createReadModel, type ReadModel } from "../read-model/routes.ts";
import { createRouteFeed } from "./route-feed.ts";
import { RouteTable } from "./route-table.ts";

const database = openTestDatabase();
const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** A feed that follows the database, and what it has read: the number of projects of each load. */
async function follow() {
  const table = new RouteTable();
  const directory = await mkdtemp(join(tmpdir(), "tp-feed-"));
  const loads: number[] = [];
  let compared = 0;
  const real = createReadModel(database.pool);
  const readModel: ReadModel = {
    read: (work) =>
      real.read((reader) =>
        work({
          ...reader,
          digests: () => {
            compared++;
            return reader.digests();
          },
          load: (projectIds) => {
            loads.push(projectIds === "all" ? Number.POSITIVE_INFINITY : projectIds.length);
            return reader.load(projectIds);
          },
        }),
      ),
  };
  const feed = createRouteFeed({
    readModel,
    table,
    directory,
    writesSnapshot: true,
    onLoaded: () => {},
    log: pino({ level: "silent" }),
  });
  const notifications = openNotifications(database.url, { applicationName: "test-feed", onProblem: () => {} });
  const stop = feed.listen(notifications);
  onTestFinished(async () => {
    stop();
    feed.stop();
    await notifications.close();
    // A snapshot may still be written.
    await rm(directory, { recursive: true, maxRetries: 5 });
  });
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  // After the feed's own.
  notifications.subscribe({ channel: "towpath_route" }, () => resolve());
  await connected;
  await feed.reload();
  loads.length = 0;
  compared = 0;
  return { table, feed, loads, directory, compared: () => compared };
}

/** An external server with a route, in an organization of its own: the id of its project. */
async function addServer(name: string): Promise<string> {
  const [organization, project, external] = [randomUUID(), randomUUID(), randomUUID()];
  await query("INSERT INTO organization (id, name, slug) VALUES ($1, 'O', $1::uuid::text)", [organization]);
  await query(
    "INSERT INTO project (id, organization_id, name, entrypoint, kind) VALUES ($1, $2, $3, 'x', 'external')",
    [project, organization, name],
  );
  await query("INSERT INTO external_server (id, project_id, url) VALUES ($1, $2, 'https://x.test/mcp')", [
    external,
    project,
  ]);
  await query(
    "INSERT INTO route (label, project_id, external_server_id, target_kind) VALUES ($1, $2, $3, 'external')",
    [name, project, external],
  );
  return project;
}
const addFormerName = (project: string, name: string) =>
  query("INSERT INTO former_name (name, project_id, expires_at) VALUES ($1, $2, now() + interval '1 day')", [
    name,
    project,
  ]);

test("GW-10 a change loads the routes of its project only, in every table", async () => {
  const [project, other] = [await addServer("one-server"), await addServer("two-server")];
  const { table, loads, compared } = await follow();
  const route = () => table.find("one-server");
  const untouched = table.find("two-server");
  expect(route()?.projectId).toBe(project);
  const changes: [string, () => unknown, unknown][] = [
    ["UPDATE project SET capture_payloads = NOT capture_payloads WHERE id = $1", () => route()?.capturePayloads, false],
    ["INSERT INTO access_policy (project_id, tools) VALUES ($1, '{echo}')", () => route()?.access?.tools, ["echo"]],
    ["UPDATE access_policy SET tools = '{add}' WHERE project_id = $1", () => route()?.access?.tools, ["add"]],
    ["DELETE FROM access_policy WHERE project_id = $1", () => route()?.access, null],
    [
      "INSERT INTO call_limit (project_id, caller_per_minute, caller_burst) VALUES ($1, 5, 1)",
      () => route()?.limits?.caller?.perMinute,
      5,
    ],
    [
      "UPDATE external_server SET url = 'https://y.test/mcp' WHERE project_id = $1",
      () => route()?.target,
      expect.objectContaining({ url: "https://y.test/mcp" }),
    ],
    [
      "INSERT INTO domain (id, project_id, name, token, active_at) VALUES (gen_random_uuid(), $1, 'mcp.one.test', 't', now())",
      () => table.labelOfDomain("mcp.one.test"),
      "one-server",
    ],
    ["UPDATE domain SET active_at = NULL WHERE project_id = $1", () => table.labelOfDomain("mcp.one.test"), undefined],
    ["DELETE FROM route WHERE project_id = $1", route, undefined],
  ];
  await query("UPDATE project SET capture_payloads = true WHERE id = $1", [project]);
  await expect.poll(() => route()?.capturePayloads).toBe(true);
  for (const [text, now, expected] of changes) {
    await query(text, [project]);
    await expect.poll(now, { message: text }).toEqual(expected);
  }
  expect(compared()).toBe(0);
  expect(Math.max(...loads)).toBe(1);
  expect(loads.length).toBeLessThanOrEqual(changes.length + 2);
  // The others' routes are not even read.
  expect(table.find("two-server")).toBe(untouched);
  await query("DELETE FROM project WHERE id = $1", [other]);
  await expect.poll(() => table.find("two-server")).toBeUndefined();
  expect(table.size).toBe(0);
});

test("GW-10 many changes at a time are few loads", async () => {
  const projects = await Promise.all(Array.from({ length: 60 }, (_, at) => addServer(`many-${at}`)));
  const { table, loads } = await follow();
  await query("UPDATE project SET identity_assertion = true WHERE id = ANY ($1)", [projects]);
  await expect.poll(() => projects.every((_, at) => table.find(`many-${at}`)?.identityAssertion)).toBe(true);
  expect(loads.length).toBeLessThanOrEqual(4);
  await query("DELETE FROM project WHERE id = ANY ($1)", [projects]);
  await expect.poll(() => table.size).toBe(0);
});

test("GW-10 a former name leads to its server unless another has it, and again when that one is gone", async () => {
  const renamed = await addServer("new-name");
  await addFormerName(renamed, "old-name");
  const { table } = await follow();
  expect(table.find("old-name")?.projectId).toBe(renamed);
  expect(table.find("new-name")?.labels).toEqual(["new-name", "old-name"]);
  const taker = await addServer("old-name");
  await expect.poll(() => table.find("old-name")?.projectId).toBe(taker);
  await expect.poll(() => table.find("new-name")?.labels).toEqual(["new-name"]);
  await query("DELETE FROM project WHERE id = $1", [taker]);
  await expect.poll(() => table.find("old-name")?.projectId).toBe(renamed);
  expect(table.find("new-name")?.labels).toEqual(["new-name", "old-name"]);
  await query("DELETE FROM project WHERE id = $1", [renamed]);
  await expect.poll(() => table.size).toBe(0);
});

test("GW-10 what no notification named is found by comparison, and unchanged routes are not read again", async () => {
  const [project, other] = [await addServer("missed"), await addServer("kept")];
  const { table, feed, loads, directory } = await follow();
  const kept = table.find("kept");
  const client = await database.pool.connect();
  await client.query("SET session_replication_role = replica");
  await client.query("UPDATE project SET auth_mode = 'towpath-public' WHERE id = $1", [project]);
  await client.query("SET session_replication_role = DEFAULT");
  client.release();
  await feed.reload();
  expect(table.find("missed")?.authMode).toBe("towpath-public");
  expect(table.find("kept")).toBe(kept);
  expect(loads).toEqual([1]);
  await feed.reload();
  expect(loads).toEqual([1]);
  // Written by itself, if not at once: a restart without the database begins with it.
  await expect
    .poll(async () => JSON.parse(await readFile(join(directory, "routes.json"), "utf8")).routes)
    .toContainEqual(expect.objectContaining({ label: "missed", authMode: "towpath-public" }));
  await query("DELETE FROM project WHERE id = ANY ($1)", [[project, other]]);
});
