import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestDatabase } from "@towpath/db/testing";
import pg from "pg";
import pino from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { RouteTable } from "../route/route-table.ts";
import { anonymous } from "./credentials.ts";
import { OpenResponses } from "./open-responses.ts";

test("PRJ-11 responses that close in any order leave the others watched, and only a deleted project's are cut", async () => {
  // Callers without credentials need no query, so nothing ever connects.
  const openResponses = new OpenResponses({
    pool: new pg.Pool({ max: 1 }),
    routes: new RouteTable(),
    log: pino({ level: "silent" }),
  });
  const server = createServer((request, response: ServerResponse) => {
    const name = request.url?.slice(1) ?? "";
    openResponses.watch(response, anonymous, {
      route: { label: name, projectId: name },
      answer: { isStream: true, end: null },
    });
    response.write("open");
  });
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const open = (project: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = get({ host: "127.0.0.1", port, path: `/${project}`, agent: false }, (answer) => {
        answer.on("error", () => {}).resume();
        resolve(answer);
      });
      request.on("error", reject);
    });

  const answers: { project: string; answer: IncomingMessage }[] = [];
  for (const project of ["kept", "deleted", "kept", "deleted", "kept", "deleted", "kept"]) {
    answers.push({ project, answer: await open(project) });
  }
  expect(openResponses.size).toBe(7);
  // The first, one in the middle, and the last: each leaves the list in another way.
  for (const at of [6, 0, 3]) {
    const before = openResponses.size;
    answers[at]?.answer.destroy();
    await vi.waitFor(() => expect(openResponses.size).toBe(before - 1));
  }

  const left = [1, 2, 4, 5].map((at) => answers[at]);
  openResponses.closeUnrouted(new Set(["kept"]));
  await vi.waitFor(() => expect(openResponses.size).toBe(2));
  await vi.waitFor(() =>
    expect(left.map((one) => [one?.project, one?.answer.destroyed])).toEqual([
      ["deleted", true],
      ["kept", false],
      ["kept", false],
      ["deleted", true],
    ]),
  );
  openResponses.closeUnrouted(new Set());
  await vi.waitFor(() => expect(openResponses.size).toBe(0));
});

test("GW-4 an answer that becomes whole while its caller's credentials are checked is sent, an open one is cut", async () => {
  const database = await createTestDatabase();
  const log = pino({ level: "silent" });
  const openResponses = new OpenResponses({ pool: database.pool, routes: new RouteTable(), log });
  // Nobody has this membership any more.
  const membership = { userId: randomUUID(), organizationId: randomUUID() };
  const credential = { kind: "token", expiresAt: Date.now() + 60_000, generation: null, membership } as const;
  const principal = { id: `user:${membership.userId}`, actor: null, credential };
  const all = ["whole", "open"].map(() => ({
    route: { label: "a", projectId: "a" },
    answer: { isStream: false, end: null as "complete" | null },
  }));
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const answered = all[request.url === "/whole" ? 0 : 1];
    if (answered) openResponses.watch(response, principal, answered);
    responses.push(response);
  });
  onTestFinished(async () => {
    server.close().closeAllConnections();
    await database.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const textOf = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (answer) => answer.text(),
      () => "cut",
    );
  const answers = Promise.all([textOf("/whole"), textOf("/open")]);
  await vi.waitFor(() => expect(openResponses.size).toBe(2));
  const checked = openResponses.check();
  const [whole] = all;
  if (whole) whole.answer.end = "complete";
  await checked;
  for (const response of responses) response.end("all of it");
  expect(await answers).toEqual(["all of it", "cut"]);
});
