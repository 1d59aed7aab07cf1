import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Transaction } from "@towpath/db";
import { createTestDatabase, openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openJobQueue, openWorkerQueue, type ScheduledHandlers, type WorkerOptions } from "./queue.ts";

const database = openTestDatabase();

const idle = {
  "webhook.process": async () => {},
  "branch.sync": async () => {},
  "installation.sync": async () => {},
  "source.check": async () => {},
  "branch.report": async () => {},
  "repository.leave": async () => {},
  "build.run": async () => {},
  "calls.replay": async () => {},
  "mail.send": async () => {},
};
const oneAtATime = {
  "webhook.process": 1,
  "branch.sync": 1,
  "installation.sync": 1,
  "source.check": 1,
  "branch.report": 1,
  "repository.leave": 1,
  "build.run": 1,
  "calls.replay": 1,
  "mail.send": 1,
};
const problems: unknown[] = [];
const onProblem = (problem: unknown) => problems.push(problem);
const settings = () => ({ databaseUrl: database.url, onProblem });

async function startWorkers(options: WorkerOptions) {
  const workers = await openWorkerQueue(settings());
  await workers.work(options);
  return workers;
}

async function until(what: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await what())) {
    if (Date.now() > end) throw new Error("timed out");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("BLD-12 of each key one job waits, and it appears only when its transaction commits", async () => {
  const queue = await openJobQueue(settings());
  const seen: string[] = [];
  const commit = (id: string, fail: boolean) =>
    database.db.transaction(async (tx) => {
      await queue.enqueue("webhook.process", { deliveryId: id }, { key: id, transaction: tx });
      if (fail) throw new Error("rolled back");
    });
  await expect(commit("lost", true)).rejects.toThrow("rolled back");
  await commit("kept", false);
  await commit("kept", false);
  await queue.enqueue("webhook.process", { deliveryId: "other" }, { key: "other" });
  const workers = await startWorkers({
    concurrency: oneAtATime,
    handlers: {
      ...idle,
      "webhook.process": async ({ deliveryId }) => {
        seen.push(deliveryId);
      },
    },
  });
  await until(() => seen.includes("other"));
  expect(seen.toSorted()).toEqual(["kept", "other"]);
  // While a job runs, another one of its key may wait, so that no change is lost.
  await queue.enqueue("webhook.process", { deliveryId: "kept" }, { key: "kept" });
  await until(() => seen.length === 3);
  await workers.stop(1000);
  await queue.close();
  expect(problems).toEqual([]);
});

test("OPS-1 processes can open the queue concurrently on a new database", async () => {
  const fresh = await createTestDatabase();
  const opened = await Promise.all(
    Array.from({ length: 3 }, () => openJobQueue({ databaseUrl: fresh.url, onProblem })),
  );
  await Promise.all(
    opened.map((queue, index) => queue.enqueue("webhook.process", { deliveryId: `d${index}` }, { key: `d${index}` })),
  );
  const { rows } = await fresh.pool.query("SELECT count(*)::int AS n FROM pgboss.job");
  expect(rows[0].n).toBe(3);
  await Promise.all(opened.map((queue) => queue.close()));
  await fresh.close();
});

test.runIf(isThorough)("BLD-12 a failed job is retried, and stopping aborts running jobs", async () => {
  const queue = await openJobQueue(settings());
  let runs = 0;
  let aborted = false;
  const workers = await startWorkers({
    concurrency: oneAtATime,
    handlers: {
      ...idle,
      "webhook.process": async () => {
        runs++;
        if (runs === 1) throw new Error("not yet");
      },
      "build.run": (_payload, signal) =>
        new Promise((resolve) => {
          runs++;
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve();
          });
        }),
    },
  });
  await queue.enqueue("webhook.process", { deliveryId: "again" }, { key: "again" });
  await until(() => runs === 2);
  const organizationId = "0192a000-0000-7000-8000-000000000000";
  await queue.enqueue("build.run", { organizationId }, { key: organizationId });
  await until(() => runs === 3);
  await workers.stop(2000);
  expect(aborted).toBe(true);
  await queue.close();
});

test("OPS-3 a worker of a new version updates the settings of existing queues", async () => {
  await (await openJobQueue(settings())).close();
  const expiry = async () => {
    const { rows } = await database.pool.query("SELECT expire_seconds FROM pgboss.queue WHERE name = 'build.run'");
    return rows[0].expire_seconds;
  };
  const current = await expiry();
  await database.pool.query("UPDATE pgboss.queue SET expire_seconds = 7 WHERE name = 'build.run'");
  const workers = await openWorkerQueue(settings());
  expect(await expiry()).toBe(current);
  await workers.stop(1000);
});

test("BLD-12 while a job waits for a retry, enqueuing it again adds none", async () => {
  const queue = await openJobQueue(settings());
  const job = { projectId: "0192a000-0000-7000-8000-000000000002", branch: "main" };
  const enqueue = () => queue.enqueue("branch.sync", job, { key: "one" });
  const waiting = async () => {
    const { rows } = await database.pool.query(
      "SELECT state FROM pgboss.job WHERE name = 'branch.sync' AND state IN ('created', 'retry')",
    );
    return rows.map((row) => row.state);
  };
  let runs = 0;
  const workers = await startWorkers({
    concurrency: oneAtATime,
    handlers: {
      ...idle,
      "branch.sync": async () => {
        runs++;
        throw new Error("GitHub is unavailable");
      },
    },
  });
  await enqueue();
  await until(async () => runs > 0 && (await waiting()).includes("retry"));
  await workers.stop(1000);
  for (let sweeps = 0; sweeps < 5; sweeps++) await enqueue();
  await database.db.transaction((tx) => queue.enqueue("branch.sync", job, { key: "one", transaction: tx }));
  expect(await waiting()).toEqual(["retry"]);
  await queue.close();
});

test.runIf(isThorough)(
  "RUN-8 the job of a worker killed with -9 is taken over within 90 s",
  { timeout: 100_000 },
  async () => {
    const queue = await openJobQueue(settings());
    const organizationId = "0192a000-0000-7000-8000-000000000001";
    const program = fileURLToPath(new URL("./testing/stuck-worker.ts", import.meta.url));
    const victim = spawn(process.execPath, [program, database.url], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    victim.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await queue.enqueue("build.run", { organizationId }, { key: organizationId });
    await until(() => output.includes(organizationId));
    victim.kill("SIGKILL");
    const killedAt = Date.now();
    let takenAt = 0;
    const workers = await startWorkers({
      concurrency: oneAtATime,
      handlers: {
        ...idle,
        "build.run": async (payload) => {
          if (payload.organizationId === organizationId) takenAt = Date.now();
        },
      },
    });
    await until(() => takenAt > 0, 90_000);
    expect(takenAt - killedAt).toBeLessThan(90_000);
    await workers.stop(1000);
    await queue.close();
  },
);

test("BLD-13 BLD-12 a job begins when the transactions that found it waiting have ended, so it sees what they wrote", async () => {
  const queue = await openJobQueue(settings());
  const organizationId = "0192a000-0000-7000-8000-000000000003";
  const enqueue = (transaction?: Transaction) =>
    queue.enqueue("build.run", { organizationId }, { key: organizationId, ...(transaction && { transaction }) });
  const states = async () => {
    const { rows } = await database.pool.query("SELECT state FROM pgboss.job WHERE singleton_key = $1", [
      organizationId,
    ]);
    return rows.map((row) => row.state);
  };
  await enqueue();
  const written = Promise.withResolvers<void>();
  const relying = Promise.withResolvers<void>();
  const writing = database.db.transaction(async (tx) => {
    await enqueue(tx);
    await tx.execute("CREATE TABLE written_meanwhile ()");
    relying.resolve();
    await written.promise;
  });
  const seesIt = async () => {
    const { rows } = await database.pool.query("SELECT to_regclass('written_meanwhile') IS NOT NULL AS seen");
    return rows[0].seen as boolean;
  };
  await relying.promise;
  const begun: Promise<boolean>[] = [];
  const workers = await startWorkers({
    concurrency: oneAtATime,
    handlers: { ...idle, "build.run": async () => void begun.push(seesIt()) },
  });
  // Taken from the queue: a transaction that begins now adds another one.
  await until(async () => (await states()).includes("active"));
  await enqueue();
  expect(await states()).toHaveLength(2);
  expect(begun).toEqual([]);
  written.resolve();
  await writing;
  await until(() => begun.length === 2);
  expect(await Promise.all(begun)).toEqual([true, true]);
  await workers.stop(1000);
  await queue.close();
});

test("LOG-6 an ended job is deleted after a day, and one that no worker takes within two weeks", async () => {
  const queue = await openJobQueue(settings());
  const { rows } = await database.pool.query(
    "SELECT name, deletion_seconds AS ended, retention_seconds AS waiting FROM pgboss.queue WHERE name NOT LIKE '\\_\\_%'",
  );
  expect(rows.length).toBeGreaterThanOrEqual(4);
  for (const row of rows) {
    expect(row.ended, row.name).toBe(86_400);
    expect(row.waiting, row.name).toBeLessThanOrEqual(14 * 86_400);
  }
  // Other tables that could grow.
  const others = ["warning", "bam", "job_dependency", "subscription", "schedule"];
  for (const table of others) {
    const found = await database.pool.query(`SELECT count(*)::int AS n FROM pgboss.${table}`);
    expect(found.rows[0].n, table).toBe(0);
  }
  await queue.close();
});

test("OPS-2 scheduled jobs run when a worker starts and at their times, by one worker at a time", async () => {
  const fresh = await createTestDatabase();
  const { pool } = fresh;
  const open = () => openWorkerQueue({ databaseUrl: fresh.url, onProblem });
  const runs: string[] = [];
  const running = Promise.withResolvers<void>();
  const handlersOf = (worker: string): ScheduledHandlers => {
    const run = (name: string) => async (signal: AbortSignal) => {
      runs.push(`${worker} ${name}`);
      // A long one, until its worker stops.
      if (name !== "log.index") return;
      running.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    return {
      "package.follow": run("package.follow"),
      "webhook.redeliver": run("webhook.redeliver"),
      "log.index": run("log.index"),
      "status.count": run("status.count"),
      "backup.make": run("backup.make"),
      "alert.watch": run("alert.watch"),
      "repository.sweep": run("repository.sweep"),
    };
  };
  const runsOf = (name: string) => runs.filter((run) => run.endsWith(name));
  const [one, other] = [await open(), await open()];
  await one.schedule(handlersOf("one"));
  await running.promise;
  // Those of every minute may come round again meanwhile.
  await until(() => new Set(runs).size >= 6);
  await other.schedule(handlersOf("other"));
  await until(() => runsOf("package.follow").length >= 2 && runsOf("repository.sweep").length >= 2);
  expect(runsOf("log.index")).toEqual(["one log.index"]);

  // Due every minute, and no pass has run yet: the next worker that opens the queue sends it.
  await pool.query("UPDATE pgboss.schedule SET cron = '* * * * *' WHERE name = 'repository.sweep'");
  await pool.query("UPDATE pgboss.version SET cron_on = NULL");
  const third = await open();
  await until(() => runsOf("repository.sweep").length >= 3, 40_000);
  await Promise.all([one, other, third].map((worker) => worker.stop(1000)));
  expect(problems).toEqual([]);
  // Ends connections that pg-boss still closes, which are then a problem.
  await fresh.close();
});
