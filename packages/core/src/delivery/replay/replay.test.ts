import { setTimeout as sleep } from "node:timers/promises";
import {
  branch,
  build,
  buildReport,
  callReplay,
  forkPullRequest,
  project,
  sampledCall,
  secret,
  secretVersion,
} from "@towpath/db/schema";
import type { AskServer } from "@towpath/replay";
import { createSecretBox } from "@towpath/secrets";
import { and, eq, sql } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { updateProject } from "../../projects/project/index.ts";
import { refusalCode } from "../../testing/expect-code.ts";
import { ReportsModel } from "../../testing/github-reports.ts";
import { memoryQueue, sampleManifest, sampleTool, seedSecrets, shaOf, succeedBuild } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { startBuild } from "../build/index.ts";
import { reportBranch } from "../report/index.ts";
import { getReplay, getSampledCall, requeueLostReplays, runReplay, startReplay } from "./index.ts";

const secrets = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const queue = memoryQueue({ withReports: true });
const suite = openProjectSuite({ secrets, queue });
const db = () => suite.database.db;
const owner = () => suite.as(suite.organization.owner);
const job = () => suite.as({ kind: "job", job: "calls.replay" });
const longAgo = new Date(Date.now() - 2 * 3_600_000);
let reports: ReportsModel;
beforeEach(() => {
  reports = new ReportsModel();
});

const tools = [
  sampleTool("read", { annotations: { readOnlyHint: true } }),
  sampleTool("pay", { annotations: { destructiveHint: true } }),
];
const branchOf = async (name: string) => {
  const [row] = await db()
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, suite.project.id), eq(branch.name, name)));
  if (!row) throw new Error(`no branch ${name}`);
  return row;
};

async function deploy(name: string, commit: string, manifest = sampleManifest({ tools })): Promise<string> {
  const input = { ...suite.at(), branch: name, commitSha: shaOf(commit), reuse: "never" as const };
  const { build: started } = await startBuild({ ctx: owner(), input });
  await succeedBuild(db(), started.id);
  await db().update(build).set({ manifest }).where(eq(build.id, started.id));
  return started.id;
}
const markAsFork = (branchId: string, commit: string) => {
  const opened = { headBranch: "topic", author: "mallory", title: "t", state: "approved" };
  return db()
    .insert(forkPullRequest)
    .values({ ...opened, branchId, commitSha: shaOf(commit) });
};
const turnOn = (replay: object | null = {}) =>
  updateProject({ ctx: owner(), input: { ...suite.at(), replay: replay as never } });

async function sample(tool: string, given: object): Promise<string> {
  const id = crypto.randomUUID();
  const { id: projectId } = suite.project;
  const times = { sampledAt: new Date(), expiresAt: new Date(Date.now() + 86_400_000) };
  const sealed = secrets.replays.seal({ projectId, id }, JSON.stringify(given));
  await db()
    .insert(sampledCall)
    .values({ id, projectId, tool, shape: tool, fingerprint: id, sealed, ...times });
  return id;
}

const replayOf = async (name: string) => {
  const rows = await db()
    .select()
    .from(callReplay)
    .where(eq(callReplay.branchId, (await branchOf(name)).id));
  return rows.toSorted((a, b) => a.requestedAt.getTime() - b.requestedAt.getTime());
};

const answer = (structuredContent: object) => ({
  kind: "result" as const,
  isError: false,
  ms: 5,
  result: { content: [], structuredContent: structuredContent as never },
});
type Answers = (given: never) => object;

/** Two servers, which answer a tool by its arguments; `asked`: what each was asked for. */
function servers(production: Answers, preview: Answers) {
  const asked: [string, string][] = [];
  const openServer = ({ url }: { url: string }) => {
    const [side, answers] = url.includes("-topic")
      ? (["preview", preview] as const)
      : (["production", production] as const);
    const ask: AskServer = async (call) => {
      asked.push([side, call.tool]);
      return answer(answers(call.arguments as never));
    };
    return { ask, close: async () => {} };
  };
  return { openServer, asked };
}

/** The same servers, whose answers wait for something. */
const heldBy = (what: () => Promise<unknown> | null, more: ReturnType<typeof servers>): ReturnType<typeof servers> => ({
  ...more,
  openServer: (target) => {
    const server = more.openServer(target);
    const ask: AskServer = async (...call) => {
      const given = await server.ask(...call);
      await what();
      return given;
    };
    return { ...server, ask };
  },
});

const run = async (replayId: string, more: ReturnType<typeof servers>, signal = new AbortController().signal) =>
  runReplay({ ctx: job(), input: { replayId, openServer: more.openServer, model: null, signal } });

const report = async (name: string) =>
  reportBranch({
    ctx: job(),
    input: { branchId: (await branchOf(name)).id, reporter: reports, postState: async () => {} },
  });

const same: Answers = ({ city }: { city: string }) => ({ city, temperature: 21, unit: "C" });

test("CAP-4 a preview that loses a field has a neutral check that says so, which fails where the setting asks for it; nothing secret is stored", async () => {
  await seedSecrets(db(), secrets, suite.project.id, { API_TOKEN: "canary-7f3a9c1e5d" });
  await deploy("main", "main");
  await turnOn();
  const callId = await sample("read", { city: "Oslo" });
  await sample("pay", { amount: 1 });
  const buildId = await deploy("topic", "one");
  const [waiting] = await replayOf("topic");
  expect(waiting).toMatchObject({ state: "waiting", commitSha: shaOf("one"), buildId });
  await report("topic");
  // Not green while it is incomplete.
  const check = (commit = "one") => reports.checkOf(shaOf(commit));
  expect(check()).toMatchObject({ status: "in_progress", conclusion: null, title: "Live. Replaying calls" });
  const lost: Answers = ({ city }: { city: string }) => ({
    city,
    unit: "C",
    by: "canary-7f3a9c1e5d",
    token: "hunter2",
  });
  const more = servers(same, lost);
  expect(await run(waiting?.id ?? "", more)).toBe("done");
  expect(new Set(more.asked.map(([, tool]) => tool))).toEqual(new Set(["read"]));
  await report("topic");
  expect(check()).toMatchObject({
    status: "completed",
    conclusion: "neutral",
    title: "Live. 1 call of 1 tool: 1 different",
    text: expect.stringMatching(/\| `read` \| 1 \| \*\*1\*\* \|[\s\S]*temperature/),
  });
  expect([...reports.comments.values()]).toEqual([]);

  const viewer = suite.as(await suite.organization.join("viewer"));
  const view = await getReplay({ ctx: viewer, input: { buildId } });
  expect(view).toMatchObject({ state: "done", verdict: "different", calls: 1, different: 1, tools: 1, remarks: [] });
  const text = JSON.stringify([view, await replayOf("topic"), check()]);
  for (const hidden of ["canary", "hunter2"]) expect(text).not.toContain(hidden);
  expect(JSON.stringify(await replayOf("topic"))).not.toContain("Oslo");
  // Who may call the server replays one call, or all again.
  expect(await getSampledCall({ ctx: owner(), input: { buildId, callId } })).toEqual({
    tool: "read",
    arguments: { city: "Oslo" },
  });
  expect(await refusalCode(getSampledCall({ ctx: viewer, input: { buildId, callId } }))).toBe("forbidden");
  expect(await refusalCode(startReplay({ ctx: viewer, input: { buildId } }))).toBe("forbidden");
  await turnOn({ isRequired: true });
  await report("topic");
  expect(check()).toMatchObject({ conclusion: "failure", summary: expect.stringContaining("turn the rule off") });
  expect(await startReplay({ ctx: owner(), input: { buildId } })).toMatchObject({ state: "waiting", calls: 1 });
  expect(await run(waiting?.id ?? "", servers(same, same))).toBe("done");
  await report("topic");
  expect(check()).toMatchObject({ conclusion: "success", title: "Live. 1 call of 1 tool: same answers" });
  // Switched off, sample and reports are gone.
  await turnOn(null);
  expect(await db().$count(sampledCall, eq(sampledCall.projectId, suite.project.id))).toBe(0);
  expect(await replayOf("topic")).toEqual([]);
  expect(await getReplay({ ctx: viewer, input: { buildId } })).toMatchObject({ state: "off" });
});

test("CAP-4 all that is not replayed is named: no calls yet, the server's own sign-in, callers' own values, other variables, a tool that writes now", async () => {
  await deploy("main", "main");
  await turnOn();
  await deploy("topic", "none");
  const replay = async () => (await replayOf("topic")).at(-1);
  const remarksAfter = async () => {
    const row = await replay();
    await startReplay({ ctx: owner(), input: { buildId: row?.buildId ?? "" } });
    expect(await run(row?.id ?? "", servers(same, same))).toBe("done");
    const { verdict, remarks } = await getReplay({ ctx: owner(), input: { buildId: row?.buildId ?? "" } });
    return [verdict, ...remarks];
  };
  expect(await remarksAfter()).toEqual(["inconclusive", expect.stringMatching(/^No calls are sampled yet/)]);
  await report("topic");
  expect(reports.checkOf(shaOf("none"))).toMatchObject({
    conclusion: "neutral",
    title: "Live. No calls compared",
    text: expect.stringContaining("No calls are sampled yet"),
  });
  await sample("read", { city: "Oslo" });
  const set = (values: object) => db().update(project).set(values).where(eq(project.id, suite.project.id));
  await set({ authMode: "passthrough" });
  expect(await remarksAfter()).toEqual(["inconclusive", expect.stringContaining("does its own sign-in")]);
  await set({ authMode: "towpath-cloud" });
  await deploy("topic", "writes", sampleManifest({ tools: [sampleTool("read", { annotations: null })] }));
  expect(await remarksAfter()).toEqual([
    "inconclusive",
    expect.stringMatching(/^No calls are sampled yet/),
    "Calls of read were not replayed: the preview doesn't mark the tool as read-only any more.",
  ]);
  await turnOn({ tools: ["read"] });
  expect(await remarksAfter()).toEqual(["same"]);
  await seedSecrets(db(), secrets, suite.project.id, { REGION: "north-europe" });
  const other = await deploy("topic", "variables", sampleManifest({ tools }));
  const versions = await db().select().from(secretVersion).where(eq(secretVersion.projectId, suite.project.id));
  await db()
    .update(build)
    .set({ secretVersionIds: versions.map(({ id }) => id) })
    .where(eq(build.id, other));
  expect(await remarksAfter()).toEqual([
    "same",
    expect.stringContaining("other environment variables than production (REGION)"),
  ]);
  await db().update(secret).set({ perCaller: true }).where(eq(secret.projectId, suite.project.id));
  expect(await remarksAfter()).toEqual(["inconclusive", expect.stringContaining("callers need values of their own")]);
});

test("CAP-4 a change of the setting reports checks again, and applies to what is sampled already; a check waits for no replay that is over", async () => {
  await deploy("main", "main");
  await turnOn({ tools: ["pay"], keepDays: 90 });
  await sample("pay", { amount: 1 });
  const read = await sample("read", { city: "Oslo" });
  const buildId = await deploy("topic", "one");
  const { id: branchId } = await branchOf("topic");
  const [waiting] = await replayOf("topic");
  await report("topic");
  const check = () => reports.checkOf(shaOf("one"));
  const asked = () => queue.jobs.splice(0).flatMap(({ name, payload }) => (name === "branch.report" ? [payload] : []));
  asked();
  await turnOn({ keepDays: 1 });
  const sampled = await db().select().from(sampledCall).where(eq(sampledCall.projectId, suite.project.id));
  expect(sampled.map(({ id, sampledAt, expiresAt }) => [id, expiresAt.getTime() - sampledAt.getTime()])).toEqual([
    [read, 86_400_000],
  ]);
  expect(asked()).toEqual([]);
  // Replayed long after its build, which GitHub doesn't show as a deployment.
  await db().update(build).set({ endedAt: longAgo }).where(eq(build.id, buildId));
  await db().update(buildReport).set({ deploymentId: null }).where(eq(buildReport.buildId, buildId));
  expect(
    await run(
      waiting?.id ?? "",
      servers(same, () => ({})),
    ),
  ).toBe("done");
  await report("topic");
  expect(check()).toMatchObject({ status: "completed", conclusion: "neutral" });
  await turnOn({ isRequired: true });
  expect(asked()).toEqual([{ branchId }]);
  await report("topic");
  expect(check()).toMatchObject({ conclusion: "failure" });
  // Nothing is left to replay once it is of a fork.
  await startReplay({ ctx: owner(), input: { buildId } });
  await report("topic");
  expect(check()).toMatchObject({ status: "in_progress" });
  await markAsFork(branchId, "one");
  asked();
  expect(await run(waiting?.id ?? "", servers(same, same))).toBe("over");
  expect(asked()).toEqual([{ branchId }]);
  await db().delete(forkPullRequest).where(eq(forkPullRequest.branchId, branchId));
  await startReplay({ ctx: owner(), input: { buildId } });
  await report("topic");
  await turnOn(null);
  expect(asked()).toEqual([{ branchId }]);
});

test("CAP-4 a replay keeps its claim although the database fails for a moment", async () => {
  await deploy("main", "main");
  await turnOn();
  await sample("read", { city: "Oslo" });
  await deploy("topic", "one");
  const [waiting] = await replayOf("topic");
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const running = run(
    waiting?.id ?? "",
    heldBy(() => released, servers(same, same)),
  );
  const claim = async () => (await replayOf("topic"))[0]?.claimedUntil?.getTime() ?? 0;
  await expect.poll(claim).toBeGreaterThan(0);
  await db().execute(sql`ALTER TABLE call_replay RENAME TO call_replay_hidden`);
  await sleep(1200);
  await db().execute(sql`ALTER TABLE call_replay_hidden RENAME TO call_replay`);
  const before = await claim();
  await expect.poll(claim, { timeout: 3000 }).toBeGreaterThan(before);
  release();
  expect(await running).toBe("done");
  // A report that a later version wrote, which was rolled back.
  const sealed = secrets.replays.seal(
    { ...waiting, id: waiting?.id ?? "", projectId: suite.project.id },
    '{"later":1}',
  );
  await db().update(callReplay).set({ sealed });
  const view = await getReplay({ ctx: owner(), input: { buildId: waiting?.buildId ?? "" } });
  expect(view).toMatchObject({ state: "done", calls: 1, report: null });
});

test("CAP-4 nothing of a fork, of production or without the setting is replayed; a newer push takes the place of an older run, and a commit is replayed once", async () => {
  await deploy("main", "main");
  await sample("read", { city: "Oslo" });
  const off = await deploy("topic", "off");
  expect(await replayOf("topic")).toEqual([]);
  await turnOn();
  const production = await deploy("main", "newer");
  expect(await getReplay({ ctx: owner(), input: { buildId: production } })).toMatchObject({ state: "production" });
  expect(await getReplay({ ctx: owner(), input: { buildId: off } })).toMatchObject({ state: "none" });
  const first = await deploy("topic", "one");
  const [running] = await replayOf("topic");
  // A push while it runs: the older run stores nothing.
  let pushed: Promise<string> | null = null;
  const slow = servers(same, (given) => {
    pushed ??= deploy("topic", "two");
    return same(given);
  });
  expect(
    await run(
      running?.id ?? "",
      heldBy(() => pushed, slow),
    ),
  ).toBe("over");
  expect(await getReplay({ ctx: owner(), input: { buildId: first } })).toMatchObject({
    state: "replaced",
    report: null,
  });
  const second = (await replayOf("topic")).at(-1);
  expect(second).toMatchObject({ state: "waiting", commitSha: shaOf("two") });
  // A killed worker's claim is taken over, and its late result is not stored.
  await db()
    .update(callReplay)
    .set({ state: "running", attempt: 7, claimedUntil: new Date(Date.now() + 60_000) })
    .where(eq(callReplay.id, second?.id ?? ""));
  expect(await run(second?.id ?? "", servers(same, same))).toBe("busy");
  await db()
    .update(callReplay)
    .set({ claimedUntil: new Date(0), requestedAt: new Date(0) })
    .where(eq(callReplay.id, second?.id ?? ""));
  expect((await requeueLostReplays({ ctx: job(), input: { olderThanMs: 1000 } })).requeued).toEqual([second?.id]);
  expect(await run(second?.id ?? "", servers(same, same))).toBe("done");
  expect(await run(second?.id ?? "", servers(same, same))).toBe("over");
  const again = await deploy("topic", "two");
  expect((await replayOf("topic")).filter(({ commitSha }) => commitSha === shaOf("two"))).toMatchObject([
    { state: "done", buildId: again, attempt: 8 },
  ]);
  // A stopped worker gives it back.
  await startReplay({ ctx: owner(), input: { buildId: again } });
  expect(await run(second?.id ?? "", servers(same, same), AbortSignal.abort())).toBe("over");
  expect((await replayOf("topic")).find(({ id }) => id === second?.id)).toMatchObject({ state: "waiting" });
  // What fails waits for another attempt; for longer than an hour, it ends with a report that says so.
  const broken: typeof slow = {
    ...slow,
    openServer: () => {
      throw new Error("no key to sign with");
    },
  };
  await sample("read", { city: "Bergen" });
  await expect(run(second?.id ?? "", broken)).rejects.toThrow("no key");
  expect((await replayOf("topic")).find(({ id }) => id === second?.id)).toMatchObject({ state: "waiting" });
  await db()
    .update(callReplay)
    .set({ requestedAt: longAgo })
    .where(eq(callReplay.id, second?.id ?? ""));
  await expect(run(second?.id ?? "", broken)).rejects.toThrow("no key");
  expect(await getReplay({ ctx: owner(), input: { buildId: again } })).toMatchObject({
    state: "done",
    verdict: "inconclusive",
    remarks: [expect.stringContaining("for an hour")],
  });

  const branchId = (await branchOf("topic")).id;
  await markAsFork(branchId, "fork");
  const of = await deploy("topic", "fork");
  expect((await replayOf("topic")).map(({ commitSha }) => commitSha)).not.toContain(shaOf("fork"));
  expect(await getReplay({ ctx: owner(), input: { buildId: of } })).toMatchObject({ state: "fork" });
  expect(await refusalCode(startReplay({ ctx: owner(), input: { buildId: of } }))).toBe("conflict");
  // One that was asked for before its branch became a fork's is not run either.
  const none = servers(same, same);
  expect(await run(second?.id ?? "", none)).toBe("over");
  expect(none.asked).toEqual([]);
});
