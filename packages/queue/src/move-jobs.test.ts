import { createTestDatabase } from "@towpath/db/testing";
import { expect, onTestFinished, test } from "vitest";
import { moveJobs } from "./move-jobs.ts";
import { openJobQueue } from "./queue.ts";

async function database() {
  const created = await createTestDatabase();
  onTestFinished(() => created.close());
  return created;
}

test("OPS-10 jobs that haven't ended move to the queue of another database as they are, and others don't", async () => {
  const [from, to] = [await database(), await database()];
  expect(await moveJobs(from.url, to.url)).toBe(0);
  const queue = await openJobQueue({ databaseUrl: from.url, onProblem: () => {} });
  const startAfter = new Date(Date.now() + 3_600_000);
  for (const mailId of ["waits", "runs", "has-ended"])
    await queue.enqueue("mail.send", { mailId }, { key: mailId, startAfter });
  await queue.close();
  const change = "UPDATE pgboss.job SET state = $1, started_on = now() WHERE singleton_key = $2";
  await from.pool.query(change, ["active", "runs"]);
  await from.pool.query(change, ["completed", "has-ended"]);

  expect(await moveJobs(from.url, to.url)).toBe(2);
  const jobs = async ({ pool }: typeof from) =>
    (await pool.query("SELECT * FROM pgboss.job WHERE state < 'completed' ORDER BY singleton_key")).rows;
  const moved = await jobs(to);
  expect(moved.map(({ singleton_key, state }) => [singleton_key, state])).toEqual([
    ["runs", "active"],
    ["waits", "created"],
  ]);
  expect(moved).toEqual(await jobs(from));
});
