import { build, githubCheck, githubInstallation, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor, FullContext } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { getProject } from "../../projects/project/index.ts";
import type { GitHubModel } from "../../testing/github-model.ts";
import { memoryQueue, memoryRepositories, refusalCode, seedOrganization, shaOf } from "../../testing/index.ts";
import { webhookScene } from "../../testing/play-webhooks.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { checkSource, getSource } from "../source/index.ts";
import { processWebhook } from "../webhook/index.ts";
import { checkDueGitHubRepositories, recordMissedWebhooks } from "./index.ts";

const suite = openProjectSuite();
const scene = webhookScene(() => ({ db: suite.database.db, organization: suite.organization }));
let github: GitHubModel;
let now: Date;
let queue = memoryQueue();
let reaches = false;
/** Asked with this ETag, or none; and what went wrong. */
let asked: (string | null)[];
let failure: TowpathError | null;
beforeEach(async () => {
  await suite.database.db.delete(githubCheck);
  await suite.database.db.delete(githubInstallation).where(eq(githubInstallation.accountLogin, "none"));
  github = scene.gitHubOf(suite.project);
  github.fullName = `acme/${suite.project.name}`;
  github.push("main", "m1");
  github.deliveries.splice(0);
  [now, queue, reaches, asked, failure] = [new Date("2026-11-26T00:00:00Z"), memoryQueue(), false, [], null];
});

const db = () => suite.database.db;
const as = (actor: Actor): FullContext => suite.as(actor, { queue, repositories, clock: { now: () => now } });
const job = () => as({ kind: "job", job: "github-repositories" });

/** A host that knows ETags, and no other repository than the model's. */
const repositories = memoryRepositories(
  {},
  {
    async heads({ owner, name }, etag) {
      if (`${owner}/${name}` !== github.fullName) throw new TowpathError("not_found", "no such repository");
      asked.push(etag);
      if (failure) throw failure;
      const current = JSON.stringify([...github.heads]);
      return etag === current ? null : { heads: new Map(github.heads), etag: current };
    },
    mayArrive: async () => reaches,
  },
);

const commits = async () => {
  const rows = await db()
    .select({ sha: build.commitSha })
    .from(build)
    .where(eq(build.projectId, suite.project.id))
    .orderBy(build.id);
  return rows.map(({ sha }) => sha);
};
const row = async () => {
  const [found] = await db().select().from(githubCheck).where(eq(githubCheck.projectId, suite.project.id));
  if (!found) throw new Error("nothing was asked");
  return found;
};
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};
/** A round of the worker, as often as something is due, and the jobs that follow. */
async function round(): Promise<void> {
  while ((await checkDueGitHubRepositories({ ctx: job(), input: { limit: 10 } })) > 0);
  await scene.sync(github, queue);
}
/** Seconds until it is asked again. */
const pause = async () => ((await row()).nextCheckAt.getTime() - now.getTime()) / 1000;
/** Plays rounds every three seconds, as the worker does; says after how many seconds a commit was queued to be built. */
async function foundAfter(commit: string, withinSeconds: number): Promise<number | null> {
  for (let waited = 0; waited <= withinSeconds; waited += 3) {
    await round();
    if ((await commits()).includes(shaOf(commit))) return waited;
    later(3);
  }
  return null;
}
async function view() {
  const found = await getSource({ ctx: as(suite.organization.owner), input: suite.at() });
  return found.kind === "github" ? found : null;
}

test("GH-6 a push that no webhook tells of is built within 30 s while somebody works, by questions that cost nothing", async () => {
  await round();
  expect(await commits()).toEqual([shaOf("m1")]);
  for (const commit of ["m2", "m3", "m4"]) {
    later(60);
    github.push("main", commit);
    expect(await foundAfter(commit, 60)).toBeLessThanOrEqual(30);
    expect(asked.at(-1)).not.toBeNull();
  }
  // Nothing but the ETag went there and back.
  const before = asked.length;
  later(120);
  await round();
  expect(asked.slice(before)).toEqual([JSON.stringify([...github.heads])]);
});

test("GH-6 who doesn't push is asked more and more rarely, and soon again when somebody looks", async () => {
  await round();
  expect(await pause()).toBeCloseTo(15, 0);
  later(600);
  await round();
  expect(await pause()).toBeGreaterThan(50);
  later(86_400);
  await round();
  expect(await pause()).toBeGreaterThan(240);
  expect(await pause()).toBeLessThanOrEqual(300);
  await getProject({ ctx: as(suite.organization.owner), input: suite.at() });
  expect(await pause()).toBe(15);
  github.push("main", "m2");
  expect(await foundAfter("m2", 30)).toBeLessThanOrEqual(18);
});

test("GH-6 new branches get previews, and deleted ones end them; branches from before the first question don't", async () => {
  github.push("old", "o1");
  await round();
  github.push("feature", "f1");
  later(20);
  await round();
  expect(await commits()).toEqual([shaOf("m1"), shaOf("f1")]);
  github.remove("feature");
  later(20);
  await round();
  expect((await scene.branchOf(suite.project, "feature"))?.endedAt).not.toBeNull();
  expect(await scene.branchOf(suite.project, "old")).toBeUndefined();
  for (let count = 0; count < 45; count++) github.push(`many-${count}`, `x${count}`);
  later(20);
  await round();
  const all = async () => (await commits()).length;
  expect(await all()).toBe(2 + 20);
  for (const _ of [1, 2]) {
    later(20);
    await db().update(githubCheck).set({ etag: null });
    await round();
  }
  expect(await all()).toBe(2 + 45);
});

test.runIf(isThorough)(
  "GH-6 where webhooks arrive asking is rare; a push of which none came has it asked soon, until one comes",
  async () => {
    reaches = true;
    await round();
    expect(await view()).toMatchObject({ withoutWebhooks: null, webhookAt: null, checkedAt: now.toISOString() });
    const webhook = async (commit: string) => {
      github.push("main", commit);
      const [hint] = github.deliveries.splice(-1);
      if (hint) await processWebhook({ ctx: job(), input: { deliveryId: "x", hint } });
      await scene.sync(github, queue);
    };
    later(20);
    await webhook("m2");
    later(20);
    await round();
    expect(await pause()).toBeGreaterThan(240);
    expect(await view()).toMatchObject({ withoutWebhooks: null });
    // None comes.
    github.push("main", "m3");
    github.deliveries.splice(0);
    expect(await foundAfter("m3", 320)).not.toBeNull();
    expect((await view())?.withoutWebhooks).toBe("missed");
    github.push("main", "m4");
    github.deliveries.splice(0);
    expect(await foundAfter("m4", 60)).toBeLessThanOrEqual(30);
    later(20);
    await webhook("m5");
    expect((await view())?.withoutWebhooks).toBeNull();
    later(20);
    await round();
    expect(await pause()).toBeGreaterThan(240);
    // The host itself reports that it couldn't deliver.
    later(10);
    await recordMissedWebhooks({ ctx: job(), input: { connection: 1 } });
    expect((await view())?.withoutWebhooks).toBeNull();
    await recordMissedWebhooks({ ctx: job(), input: { connection: 0 } });
    expect(await view()).toMatchObject({ withoutWebhooks: "missed" });
    expect(await pause()).toBe(0);
    reaches = false;
    expect((await view())?.withoutWebhooks).toBe("unreachable");
  },
);

test("GH-6 a limit is waited for; an unreachable host is asked less and less; what is live stays", async () => {
  await round();
  failure = new TowpathError("limit_reached", "GitHub's rate limit was exceeded.", { retryAfterSeconds: 1800 });
  later(20);
  await round();
  expect(await pause()).toBe(1800);
  expect((await view())?.problem).toEqual({
    code: "limit_reached",
    message: failure.message,
    since: now.toISOString(),
  });
  failure = new TowpathError("upstream_unavailable", "GitHub can't be reached right now.");
  const pauses: number[] = [];
  for (let count = 0; count < 3; count++) {
    later(1801);
    await round();
    pauses.push(await pause());
  }
  expect(pauses[0]).toBeLessThan(pauses[1] ?? 0);
  expect(pauses[1]).toBeLessThan(pauses[2] ?? 0);
  failure = null;
  github.push("main", "m2");
  later(1801);
  await round();
  expect((await view())?.problem).toBeNull();
  expect(await commits()).toEqual([shaOf("m1"), shaOf("m2")]);
});

test("GH-6 a renamed repository is found again; a changed source starts over; a suspended account isn't asked", async () => {
  await round();
  const before = github.fullName;
  github.fullName = "renamed/echo";
  later(20);
  await round();
  const [found] = await db().select().from(project).where(eq(project.id, suite.project.id));
  expect([before === found?.repositoryFullName, found?.repositoryFullName]).toEqual([false, "renamed/echo"]);
  later(60);
  await round();
  expect((await row()).problem).toBeNull();
  await db().update(project).set({ repositoryId: 4711 }).where(eq(project.id, suite.project.id));
  expect(await checkDueGitHubRepositories({ ctx: job(), input: { limit: 10 } })).toBeGreaterThan(0);
  expect(await row()).toMatchObject({ repositoryId: 4711, webhookAt: null });
  await db()
    .update(githubInstallation)
    .set({ suspendedAt: now })
    .where(eq(githubInstallation.organizationId, suite.organization.id));
  later(3600);
  const count = asked.length;
  await round();
  expect(asked.length).toBe(count);
});

test("GH-6 who may start builds asks at once; others only see it; two workers ask once", async () => {
  const check = (actor: Actor) => checkSource({ ctx: as(actor), input: suite.at() });
  expect(await check(suite.organization.owner)).toMatchObject({ checkedAt: now.toISOString(), problem: null });
  expect(await refusalCode(check(await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(check((await seedOrganization(db())).owner))).toBe("not_found");
  const dueCheck = () => checkDueGitHubRepositories({ ctx: job(), input: { limit: 10 } });
  expect(
    await refusalCode(checkDueGitHubRepositories({ ctx: as(suite.organization.owner), input: { limit: 1 } })),
  ).toBe("forbidden");
  later(20);
  const count = asked.length;
  await Promise.all([dueCheck(), dueCheck(), dueCheck()]);
  expect(asked.length).toBe(count + 1);
});
