import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./client.ts";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();

/** The database by TCP. `lose`: existing connections carry nothing any more, as those to a lost machine. */
async function openLink() {
  const at = new URL(database.url.replace("@/", "@socket/"));
  const socket = join(at.searchParams.get("host") ?? "", `.s.PGSQL.${at.searchParams.get("port")}`);
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const target = connect(socket);
    for (const each of [client, target]) each.on("error", () => {});
    client.pipe(target).pipe(client);
    pairs.add([client, target]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const each of [...pairs].flat()) each.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return {
    url: `postgresql://${at.username}@127.0.0.1:${port}${at.pathname}`,
    lose() {
      for (const [client, target] of pairs) {
        client.unpipe(target);
        target.unpipe(client);
        client.resume();
      }
    },
    cut() {
      for (const [client] of pairs) client.resetAndDestroy();
    },
  };
}

test("OPS-3 connections to a machine that is lost end by themselves, also those of transactions, and new ones take their places", async () => {
  const link = await openLink();
  const { db, pool, close } = openDatabase(link.url, { maxConnections: 1, silenceMs: 500 });
  onTestFinished(close);
  const transaction = () => db.transaction((tx) => tx.execute("SELECT 1 AS one"));
  await transaction();
  link.lose();
  await expect(transaction()).rejects.toThrow(/Failed query: begin/);
  expect((await transaction()).rows).toEqual([{ one: 1 }]);
  link.lose();
  await expect(pool.query("SELECT 1")).rejects.toThrow("The database has not answered for 0.5 s.");
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("OPS-3 a connection that breaks before its transaction has begun leaves its place to the next one", async () => {
  const link = await openLink();
  const { db, pool, close } = openDatabase(link.url, { maxConnections: 1 });
  onTestFinished(close);
  await pool.query("SELECT 1");
  link.lose();
  const broken = db.transaction((tx) => tx.execute("SELECT 1 AS one"));
  setTimeout(() => link.cut(), 200);
  await expect(broken).rejects.toThrow(/Failed query: begin/);
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("OPS-3 a connection that nobody uses may be silent for longer", async () => {
  const { pool, close } = openDatabase(database.url, { maxConnections: 1, silenceMs: 300 });
  onTestFinished(close);
  const pid = async () => (await pool.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
  const first = await pid();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(await pid()).toBe(first);
});
