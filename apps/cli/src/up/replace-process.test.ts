import { readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { BoundSocket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import type { ReplacementEvent } from "./control.schema.ts";
import { replaceRoles } from "./replace-roles.ts";
import { defaultRestartLimits } from "./restart-pauses.ts";
import type { Role } from "./roles.ts";
import { SupervisedProcess } from "./supervised-process.ts";

let directory = "";
let socket: BoundSocket;
let supervised: SupervisedProcess | null = null;
beforeEach(async () => {
  directory = await shortDirectory();
  socket = new BoundSocket({ host: "127.0.0.1", port: 0 });
  // Restarts are reported on stderr.
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
  await supervised?.stop(5000);
  supervised = null;
  socket.close();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

const limits = { readyWithinMs: 20_000, maxLogBytes: 100_000, ...defaultRestartLimits };
const role = new URL("../../../../packages/role/src/index.ts", import.meta.url).href;

/** A role that answers with its name and process id, after a second at /slow, as every role starts and stops. */
const serving = (name: string) => `
  import { createServer } from "node:http";
  import { drainHttpServer, listen, listenAddressFrom, openLog, replacedLimits, reportReady, stopOnSignal } from "${role}";
  const log = openLog("info", { role: "test" });
  const server = createServer((request, response) =>
    setTimeout(() => response.end("${name} " + process.pid), request.url === "/slow" ? 1000 : 0));
  await listen(server, listenAddressFrom(process.env, { host: "127.0.0.1", port: 0 }));
  stopOnSignal(log, (reason) =>
    drainHttpServer(server, reason === "replaced" ? { ...replacedLimits, idleMs: 1000 } : { requestsMs: 0, idleMs: 0 }));
  reportReady(log);`;

async function commandOf(name: string, code: string): Promise<readonly string[]> {
  const path = `${directory}/${name}.mjs`;
  await writeFile(path, code);
  return [process.execPath, "--disable-warning=ExperimentalWarning", path];
}

async function supervise(code: string, change: Partial<Role> = {}): Promise<SupervisedProcess> {
  const env = { PATH: process.env.PATH ?? "", FOLDER: directory };
  const usual = { name: "gateway", env, stopSignal: "SIGTERM", socket: socket.fd(), runsAlone: false } as const;
  supervised = new SupervisedProcess(
    { ...usual, command: await commandOf("former", code), ...change },
    directory,
    limits,
  );
  await supervised.start();
  return supervised;
}

/** Resolves to the answer's text. @throws Error when the connection is refused or breaks */
function ask(path = "/", agent: Agent | false = false): Promise<string> {
  const { port } = socket.address();
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path, agent }, (response) => text(response).then(resolve, reject));
    call.once("error", reject).end();
  });
}

/**
 * Asks 50 times a second, on new connections and on kept ones, until it is stopped; then resolves to the failures. A busy
 * machine asks more slowly: it goes on until it has asked `least` times.
 */
function askContinuously(): (least: number) => Promise<{ readonly asked: number; readonly failed: readonly string[] }> {
  // One connection, which is never idle: a server may close an idle one just when a request is sent on it.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const all: Promise<unknown>[] = [];
  const failed: string[] = [];
  const timer = setInterval(() => {
    all.push(ask("/", all.length % 2 === 0 ? false : agent).catch((error: Error) => failed.push(error.message)));
  }, 20);
  return async (least) => {
    await vi.waitUntil(() => all.length >= least, { timeout: 30_000 });
    clearInterval(timer);
    await Promise.all(all);
    agent.destroy();
    return { asked: all.length, failed };
  };
}

const pidOf = (answer: string) => Number(answer.split(" ")[1]);

test("OPS-10 a role is replaced without a refused or broken request; what was under way ends in the former process", async () => {
  const process = await supervise(serving("former"));
  const stop = askContinuously();
  await sleep(300);
  const slow = ask("/slow");
  await sleep(100);
  await process.replace(await commandOf("next", serving("next")));
  await expect.poll(() => ask()).toMatch(/^next /);
  expect(await slow).toMatch(/^former /);
  // The last idle connections of the former one are closed.
  await sleep(2000);
  const { asked, failed } = await stop(101);
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(100);
});

test.runIf(isThorough)(
  "OPS-10 while a killed role starts again, connections wait instead of being refused",
  async () => {
    await supervise(serving("former"));
    const killed = pidOf(await ask());
    globalThis.process.kill(killed, "SIGKILL");
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(new Set(answers.map(pidOf)).size).toBe(1);
    expect(pidOf(answers[0] ?? "")).not.toBe(killed);
  },
);

test("OPS-10 when a new role doesn't start, the former process goes on, and the report says why", async () => {
  const process = await supervise(serving("former"));
  const former = await ask();
  const command = [...(await commandOf("next", 'console.log("no such setting"); process.exit(3);'))];
  const events: ReplacementEvent[] = [];
  const roles = [
    { name: "gateway", command },
    { name: "worker", command },
  ] as const;
  for await (const event of replaceRoles([process], { release: "2", roles: [...roles] })) events.push(event);
  const reason = "ended while starting (status 3): no such setting";
  expect(events).toEqual([{ type: "failed", role: "gateway", reason, isFormerRunning: true }]);
  expect(await ask()).toBe(former);
  // A later kill starts the former command again.
  globalThis.process.kill(pidOf(former), "SIGKILL");
  expect(await ask()).toMatch(/^former /);
});

test("OPS-10 a role whose processes may not run side by side ends before its successor starts", async () => {
  const alone = `
    import { appendFileSync } from "node:fs";
    const write = (word) => appendFileSync(process.env.FOLDER + "/order", word + " ");
    process.on("SIGTERM", () => setTimeout(() => (write("ended"), process.exit()), 200));
    process.send({ type: "ready" }, () => write("started"));
    setInterval(() => {}, 1000);`;
  const process = await supervise(alone, { name: "runner", runsAlone: true, socket: null });
  await process.replace(await commandOf("next", alone));
  await expect.poll(() => readFile(`${directory}/order`, "utf8")).toBe("started ended started ");
});
