import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test } from "vitest";
import { startEmbeddedPostgres } from "./embedded/postgres.ts";
import { waitForDatabase } from "./wait-for-database.ts";

test("OPS-2 a database that doesn't answer yet is waited for and named, without its password, once for each reason", async () => {
  const directory = await shortDirectory();
  const socketDirectory = `${directory}/s`;
  // The instance's own is created once the server takes connections; in between, there is no such database.
  const url = `postgresql://towpath:secret@/postgres?host=${encodeURIComponent(socketDirectory)}&port=5432`;
  const messages: string[] = [];
  const onWaiting = (address: string, reason: string) => messages.push(`${address}: ${reason}`);
  const waiting = waitForDatabase(url, { onWaiting, signal: new AbortController().signal });
  // Longer than its first two pauses.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(messages).toEqual([`postgres at ${socketDirectory}: connect ENOENT ${socketDirectory}/.s.PGSQL.5432`]);
  const options = { dataDirectory: `${directory}/data`, socketDirectory, durable: false };
  const postgres = await startEmbeddedPostgres(options);
  expect(await waiting).toBe(true);
  expect(messages.join()).not.toContain("secret");
  const signal = new AbortController().signal;
  await expect(waitForDatabase(url.replace("/postgres?", "/nothing?"), { onWaiting, signal })).rejects.toThrow(
    /The database nothing at .* refuses: database "nothing" does not exist/,
  );
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

test("OPS-2 the wait for a database ends when the instance is stopped", async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const stopping = new AbortController();
  const reasons: string[] = [];
  const waiting = waitForDatabase(`postgresql://towpath@127.0.0.1:${port}/towpath`, {
    onWaiting: (_, reason) => void reasons.push(reason),
    signal: stopping.signal,
  });
  await expect.poll(() => reasons.length).toBe(1);
  stopping.abort();
  expect(await waiting).toBe(false);
  server.close();
});
