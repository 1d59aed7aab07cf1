import { mkdtemp, rm } from "node:fs/promises";
import { createServer, connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openNotifications } from "./notifications.ts";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();

function open(url: string, options: { pingMs?: number } = {}) {
  const problems: unknown[] = [];
  const onProblem = (error: unknown) => problems.push(error);
  const notifications = openNotifications(url, { applicationName: "towpath-test-listen", onProblem, ...options });
  onTestFinished(() => notifications.close());
  return { notifications, problems };
}
const notify = (channel: string, payload = "") =>
  database.pool.query("SELECT pg_notify($1, $2)", [channel, payload]).then(() => {});

function counter() {
  const count = { calls: 0, add: () => void count.calls++, reaches: (calls: number) => expectAtLeast(count, calls) };
  return count;
}
const expectAtLeast = (count: { calls: number }, calls: number) =>
  expect.poll(() => count.calls, { timeout: 10_000 }).toBeGreaterThanOrEqual(calls);

test("GW-10 subscribers get the notifications of their channel, or of their payload on it, and no others", async () => {
  const { notifications } = open(database.url);
  const [all, one, other] = [counter(), counter(), counter()];
  notifications.subscribe({ channel: "letters" }, all.add);
  const stop = notifications.subscribe({ channel: "letters", payload: "a" }, one.add);
  // All are called after the first connect.
  await Promise.all([all.reaches(1), one.reaches(1)]);
  // A channel added later uses the same connection.
  notifications.subscribe({ channel: "digits", payload: "1" }, other.add);
  await other.reaches(1);
  await notify("letters", "a");
  await notify("letters", "b");
  await notify("digits", "1");
  await notify("digits", "2");
  // They come in the order in which they were sent: after this one, all are here.
  await notify("letters", "c");
  await all.reaches(4);
  expect([all.calls, one.calls, other.calls]).toEqual([4, 2, 2]);
  stop();
  await notify("letters", "a");
  await all.reaches(5);
  expect(one.calls).toBe(2);
  const { rows } = await database.pool.query(
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'towpath-test-listen'",
  );
  expect(rows).toHaveLength(1);
});

test("GW-10 after a reconnect all subscribers are called, as they may have missed notifications", async () => {
  const { notifications, problems } = open(database.url);
  const subscriber = counter();
  notifications.subscribe({ channel: "letters" }, subscriber.add);
  await subscriber.reaches(1);
  await database.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'towpath-test-listen'",
  );
  await subscriber.reaches(2);
  expect(problems.length).toBeGreaterThan(0);
  const before = subscriber.calls;
  await notify("letters");
  await subscriber.reaches(before + 1);
});

test("GW-10 a silently cut connection is detected and replaced", async () => {
  // postgresql://user@/database?host=<directory of the socket>&port=<port>
  const [, directory = "", port = ""] = /[?&]host=([^&]+)&port=(\d+)/.exec(database.url) ?? [];
  const proxyDirectory = await mkdtemp(join(tmpdir(), "tp-listen-"));
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const upstream = dial(join(decodeURIComponent(directory), `.s.PGSQL.${port}`));
    sockets.push(upstream);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(join(proxyDirectory, `.s.PGSQL.${port}`), resolve));
  onTestFinished(async () => {
    proxy.close();
    await rm(proxyDirectory, { recursive: true });
  });
  const through = database.url.replace(directory, encodeURIComponent(proxyDirectory));
  const { notifications } = open(through, { pingMs: 50 });
  const subscriber = counter();
  notifications.subscribe({ channel: "letters" }, subscriber.add);
  await subscriber.reaches(1);
  // Drop packets, without end or error.
  for (const upstream of sockets) upstream.unpipe();
  await subscriber.reaches(2);
  expect(sockets).toHaveLength(2);
}, 20_000);

test("GW-10 while the database is unavailable at the start, it retries and reports each failure", async () => {
  const { notifications, problems } = open("postgresql://nobody@127.0.0.1:1/none");
  notifications.subscribe({ channel: "letters" }, () => {});
  await expect.poll(() => problems.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
});
