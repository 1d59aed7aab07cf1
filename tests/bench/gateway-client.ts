// The gateway's client of servers, compared with undici's pool (decision 092): processor time of a request over a unix
// socket to a server that answers at once, system calls included. `./towpath test bench gateway-client [slices]`.
//
// Both take turns in one process, in slices of some milliseconds: the least and the tenth of many move little with other
// work on the machine.
//
// Measured on two busy cores, least and tenth: JSON 14.8 and 15.8 µs instead of 23.9 and 27.5, event streams 16.4 and 25.6
// instead of 25.8 and 36.6.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@towpath/role/testing";
import { type Dispatcher, Pool } from "undici";
import { ServerConnections } from "../../apps/gateway/src/forward/server-connections.ts";
import { modernCall } from "../instance/modern-call.ts";
import { startServer } from "./gateway-nginx.ts";
import { requirePrograms } from "./measure.ts";

const slices = Number(process.argv[2] ?? 60);
const callsPerSlice = 400;
const warmUpCalls = 15_000;
/** Requests under way. */
const open = 16;

const request = modernCall("echo", { text: "hello from the bench" }, "bench");
const options: Dispatcher.DispatchOptions = {
  path: "/mcp",
  method: "POST",
  headers: Object.entries({ Host: "localhost:8080", ...request.headers, "x-forwarded-for": "127.0.0.1" }).flat(),
  body: Buffer.from(request.body),
  idempotent: false,
  blocking: false,
};

/** Microseconds of processor time of one of `count` requests. */
async function call(client: Dispatcher, count: number): Promise<number> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let begun = 0;
  let ended = 0;
  const next = () => {
    if (begun++ < count) client.dispatch(options, handler);
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd() {
      if (++ended === count) resolve();
      else setImmediate(next);
    },
    onResponseError: (_controller, error) => reject(error),
  };
  const before = process.cpuUsage();
  for (let at = 0; at < open; at++) next();
  await done;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

requirePrograms({ nginx: "nginx-light" });
const directory = await mkdtemp(join(tmpdir(), "tp-bench-"));
const { answers, process: server } = await startServer(directory, await freePort());
while (!Object.values(answers).every(existsSync)) await sleep(50);
try {
  for (const [kind, socketPath] of Object.entries(answers)) {
    const endpoint = { kind: "unix", path: socketPath } as const;
    const clients: Readonly<Record<string, Dispatcher>> = {
      "undici's pool": new Pool("http://localhost", { socketPath, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }),
      "the gateway's": new ServerConnections({ endpoint, connectMs: 5000, idleMs: 30_000 }),
    };
    const measured = Object.entries(clients).map(([name, client]) => ({ name, client, micros: [] as number[] }));
    for (const { client } of measured) await call(client, warmUpCalls);
    for (let slice = 0; slice < slices; slice++) {
      for (const { client, micros } of measured) micros.push(await call(client, callsPerSlice));
    }
    console.log(`\na request answered by ${kind === "json" ? "JSON" : "an event stream"}, ${slices} slices`);
    console.table(
      measured.map(({ name, micros }) => {
        const sorted = micros.toSorted((a, b) => a - b);
        const at = (share: number) => sorted[Math.floor(slices * share)]?.toFixed(1);
        return { client: name, "least µs": at(0), "tenth µs": at(0.1), "median µs": at(0.5) };
      }),
    );
    for (const { client } of measured) await client.destroy();
  }
} finally {
  server.kill();
  await rm(directory, { recursive: true, force: true });
}
