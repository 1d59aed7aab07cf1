import { newId } from "@towpath/core/ids";
import { seedProject, shaOf } from "@towpath/core/testing";
import { build, deployment, member, session } from "@towpath/db/schema";
import { appendBuildLog, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sharedSite } from "./site.ts";
import { type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";
import { startWeb } from "./web-process.ts";

const site = sharedSite();
let owner: Member;
let stranger: Member;
let project: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  [owner, stranger] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  project = await seedProject(site.db, owner.organization);
});

let sequence = 0;
async function newBuild(of = project): Promise<string> {
  const id = newId();
  const ids = { projectId: of.id, branchId: of.branchId };
  await site.db.insert(build).values({
    ...ids,
    id,
    status: "building",
    commitSha: shaOf("a"),
    trigger: "push",
    sequence: ++sequence,
    attempt: 1,
    entrypoint: "echo.py",
  });
  return id;
}

const say = (buildId: string, ...texts: string[]) =>
  appendBuildLog(
    site.pool,
    { buildId, attempt: 1 },
    texts.map((text) => ({ time: new Date(), phase: "plan", kind: "step", text })),
  );

type Event = { readonly event: string; readonly id: string | null; readonly data: Record<string, unknown> };

/** Reads events one by one. `stop` disconnects. */
async function open(visitor: Visitor, path: string, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await visitor.request(path, { headers, signal: abort.signal });
  const events = parse(response);
  const next = async (event: string): Promise<Event> => {
    for (;;) {
      const { value, done } = await events.next();
      if (done) throw new Error(`the stream ended before ${event}`);
      if (value.event === event) return value;
    }
  };
  return { response, next, stop: () => abort.abort() };
}

async function* parse(response: Response): AsyncGenerator<Event> {
  const text = response.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
  for await (const { event = "message", id = null, data } of text.pipeThrough(new EventSourceParserStream())) {
    yield { event, id, data: JSON.parse(data) };
  }
}

test("PRJ-3 a build's log streams existing lines, then each new line, then the end", async () => {
  const buildId = await newBuild();
  await say(buildId, "first", "second");
  const stream = await open(owner.visitor, `/api/builds/${buildId}/log`);
  expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
  expect(stream.response.headers.get("cache-control")).toBe("private, no-store");
  expect(await stream.next("line")).toMatchObject({
    id: "1",
    data: { line: 1, text: "first", phase: "plan", kind: "step" },
  });
  expect(await stream.next("line")).toMatchObject({ id: "2", data: { line: 2, text: "second" } });
  expect(await stream.next("status")).toMatchObject({ data: { status: "building" } });

  const waits: number[] = [];
  for (const id of ["3", "4", "5"]) {
    const before = performance.now();
    await say(buildId, `line ${id}`);
    expect(await stream.next("line")).toMatchObject({ id, data: { text: `line ${id}` } });
    waits.push(performance.now() - before);
  }
  // By polling, each except the first would take the whole interval of 5 s; by notification, only on a busy machine.
  expect(Math.min(...waits.slice(1))).toBeLessThan(3000);

  await site.db.update(build).set({ status: "succeeded" }).where(eq(build.id, buildId));
  expect(await stream.next("status")).toMatchObject({ data: { status: "succeeded" } });
  await say(buildId, "on its way meanwhile");
  expect(await stream.next("line")).toMatchObject({ data: { text: "on its way meanwhile" } });
  await stream.next("end");
});

test("PRJ-3 a reader that reconnects resumes after the last line it has seen", async () => {
  const buildId = await newBuild();
  await say(buildId, "1", "2", "3");
  const stream = await open(owner.visitor, `/api/builds/${buildId}/log`, { "last-event-id": "2" });
  expect(await stream.next("line")).toMatchObject({ id: "3", data: { text: "3" } });
  stream.stop();
});

test("PRJ-3 a server's log streams the newest lines and each new one", async () => {
  const [buildId, deploymentId] = [await newBuild(), newId()];
  const ids = { projectId: project.id, branchId: project.branchId };
  await site.db
    .insert(deployment)
    .values({ ...ids, id: deploymentId, buildId, environment: "production", slug: project.name });
  const row = {
    projectId: project.id,
    deploymentId,
    instanceId: null,
    requestId: null,
    stream: "stdout",
    level: "info",
  } as const;
  await writeServerLogs(site.pool, [{ ...row, time: new Date(), line: "hello" }]);
  const stream = await open(owner.visitor, `/api/deployments/${deploymentId}/log`);
  const first = await stream.next("line");
  expect(first).toMatchObject({ data: { line: "hello", level: "info", stream: "stdout" } });
  await writeServerLogs(site.pool, [{ ...row, time: new Date(), line: "again" }]);
  expect(await stream.next("line")).toMatchObject({ data: { line: "again" } });
  stream.stop();

  // A browser that reconnects sends the header, a reloaded page the query parameter.
  for (const [query, headers] of [
    ["", { "last-event-id": first.id ?? "" }],
    [`?after=${first.id}`, {}],
  ] as const) {
    const resumed = await open(owner.visitor, `/api/deployments/${deploymentId}/log${query}`, headers);
    expect(await resumed.next("line")).toMatchObject({ data: { line: "again" } });
    resumed.stop();
  }
  expect((await stranger.visitor.get(`/api/deployments/${deploymentId}/log`)).status).toBe(404);
  expect((await newVisitor(site.url).get(`/api/deployments/${deploymentId}/log`)).status).toBe(401);
});

test("a build's log is for members and the operator; for others it doesn't exist", async () => {
  const buildId = await newBuild();
  const path = `/api/builds/${buildId}/log`;
  expect((await newVisitor(site.url).get(path)).status).toBe(401);
  expect((await stranger.visitor.get(path)).status).toBe(404);
  expect((await owner.visitor.get(`/api/builds/${newId()}/log`)).status).toBe(404);
  expect((await owner.visitor.get("/api/builds/no-id/log")).status).toBe(404);
  // A wrong token never falls back to the cookie.
  expect((await owner.visitor.get(path, { authorization: "Bearer wrong" })).status).toBe(401);
  const operator = await open(newVisitor(site.url), path, { authorization: `Bearer ${site.operatorToken}` });
  await operator.next("status");
  operator.stop();
});

test("PRJ-3 streams per user are limited, with a message, and all streams share one LISTEN connection", async () => {
  const reader = await seededMember(site.url, site.db);
  const own = await seedProject(site.db, reader.organization);
  const buildId = await newBuild(own);
  const path = `/api/builds/${buildId}/log`;
  const streams = [];
  for (let count = 0; count < 20; count++) streams.push(await open(reader.visitor, path));
  for (const stream of streams) await stream.next("status");
  const refused = await reader.visitor.get(path);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    error: { code: "limit_reached", message: expect.stringContaining("You have 20 logs open, which is the limit.") },
  });
  const others = await open(owner.visitor, `/api/builds/${await newBuild()}/log`);
  await others.next("status");
  others.stop();
  const { rows } = await site.pool.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'towpath-web-listen' AND datname = current_database()",
  );
  expect(rows[0].count).toBe(1);
  for (const stream of streams) stream.stop();
  // Closed streams no longer count.
  await expect
    .poll(async () => {
      const again = await open(reader.visitor, path);
      again.stop();
      return again.response.status;
    })
    .toBe(200);
});

test.runIf(isThorough)(
  "PRJ-3 a stream that fails is logged, and its reader gets an error instead of an end",
  async () => {
    const buildId = await newBuild();
    const stream = await open(owner.visitor, `/api/builds/${buildId}/log`);
    await stream.next("status");
    await site.pool.query("ALTER TABLE build_log RENAME TO build_log_renamed");
    try {
      expect(await stream.next("problem")).toMatchObject({
        data: { code: "internal", message: expect.stringContaining("Something went wrong on our side.") },
      });
    } finally {
      await site.pool.query("ALTER TABLE build_log_renamed RENAME TO build_log");
    }
    // The line comes through a pipe.
    await expect.poll(() => site.output()).toContain("a log stream failed");
  },
);

// Side by side: they wait for intervals of the product.
test.concurrent("PRJ-3 PRJ-5 the streams of a removed member and of an ended session end", {
  timeout: 60_000,
}, async ({ expect }) => {
  const own = await seedProject(site.db, owner.organization);
  const buildId = await newBuild(own);
  const path = `/api/builds/${buildId}/log`;
  const [removed, signedOut] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  const join = (userId: string) =>
    site.db.insert(member).values({ id: newId(), organizationId: owner.organization.id, userId, role: "viewer" });
  await join(removed.userId);
  await join(signedOut.userId);
  const [first, second, kept] = [
    await open(removed.visitor, path),
    await open(signedOut.visitor, path),
    await open(owner.visitor, path),
  ];
  const logPage = await open(
    removed.visitor,
    `/api/projects/${owner.organization.slug}/${own.name}/request-log-changes`,
  );
  await first.next("status");
  await logPage.next("changed");
  await site.db.delete(member).where(eq(member.userId, removed.userId));
  await site.db.delete(session).where(eq(session.userId, signedOut.userId));
  expect(await first.next("problem")).toMatchObject({ data: { code: "not_found" } });
  expect(await second.next("problem")).toMatchObject({ data: { code: "unauthenticated" } });
  expect(await logPage.next("problem")).toMatchObject({ data: { code: "not_found" } });
  await writeRequestLogs(site.pool, [requestLogRow({ projectId: own.id })]);
  await expect(logPage.next("changed")).rejects.toThrow("the stream ended");
  await expect(first.next("line")).rejects.toThrow("the stream ended");
  // Other readers are not affected.
  await say(buildId, "for the others");
  expect(await kept.next("line")).toMatchObject({ data: { text: "for the others" } });
  kept.stop();
});

test.runIf(isThorough)(
  "PRJ-5 CAP-7 a log page that knows its rows is notified when it opens only if there are newer ones",
  async () => {
    const { name, id: projectId } = await seedProject(site.db, owner.organization);
    const path = `/api/projects/${owner.organization.slug}/${name}/request-log-changes`;
    const opened = async (ageMs: number) => await open(owner.visitor, `${path}?age=${ageMs}`);
    const pause = () => new Promise((resolve) => setTimeout(resolve, 2500, "nothing"));
    await writeRequestLogs(site.pool, [requestLogRow({ projectId, time: Date.now() - 600_000 })]);
    // The notification of the row itself.
    await pause();
    const knowing = await opened(1000);
    const first = await Promise.race([knowing.next("changed"), pause()]);
    expect(first).toBe("nothing");
    knowing.stop();
    for (const ageMs of [600_000, 3_600_000]) {
      const older = await opened(ageMs);
      await older.next("changed");
      older.stop();
    }
  },
);

test.concurrent("PRJ-5 LOG-5 an open log page is notified of new rows of its project only, once for many", async ({
  expect,
}) => {
  const path = (name: string) => `/api/projects/${owner.organization.slug}/${name}/request-log-changes`;
  const [busy, quiet] = [
    await seedProject(site.db, owner.organization),
    await seedProject(site.db, owner.organization),
  ];
  const [page, other] = [await open(owner.visitor, path(busy.name)), await open(owner.visitor, path(quiet.name))];
  for (const stream of [page, other]) await stream.next("changed");
  const notified: string[] = [];
  const watch = async (name: string, stream: typeof page) => {
    while (await stream.next("changed").catch(() => null)) notified.push(name);
  };
  const watching = [watch("page", page), watch("other", other)];
  // Opening the LISTEN connection may notify once more, for rows that were written before.
  do {
    notified.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 1500));
  } while (notified.length > 0);
  const begun = performance.now();
  for (let count = 0; count < 20; count++) {
    await writeRequestLogs(site.pool, [requestLogRow({ projectId: busy.id })]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const seconds = (performance.now() - begun) / 1000;
  await expect.poll(() => notified.length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  // Once immediately, and then at most once a second.
  expect(notified.length).toBeLessThan(5 + seconds);
  expect(new Set(notified)).toEqual(new Set(["page"]));
  for (const stream of [page, other]) stream.stop();
  await Promise.all(watching);
  expect((await stranger.visitor.get(path(busy.name))).status).toBe(404);
  expect((await newVisitor(site.url).get(path(busy.name))).status).toBe(401);
});

test.runIf(isThorough)("open streams do not keep the process from stopping", async ({ expect }) => {
  const second = await startWeb({ databaseUrl: site.databaseUrl });
  const buildId = await newBuild();
  const headers = { authorization: `Bearer ${second.operatorToken}` };
  const stream = await open(newVisitor(second.url), `/api/builds/${buildId}/log`, headers);
  await stream.next("status");
  // Not 1, as of a process that can't stop in time.
  expect((await second.stop()).code).toBe(0);
});
