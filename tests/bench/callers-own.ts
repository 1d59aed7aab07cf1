// Many people of one server with values of their own (CAP-1): the first call of each, which starts their instance, the call
// that wakes it from its sleep, the one that starts it again once it has ended, the same server started bare by Python, the
// memory of an instance, and what is left once all are idle. Then attacked calls, counted by the server itself.
// `./towpath test bench callers-own [people] [attacked calls] [pause between people in ms] [seconds of attack at most]
// [seconds after which an idle instance ends: longer than the first calls of all take; above 600 nobody waits for it]
// [MiB for all instances: beyond it people take turns]`.
//
// Seen with 1,000 people on two quiet cores: docs/decisions/086-forks-of-an-interpreter.md.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "@towpath/db";
import { createRunnerClient, type RunnerInstance } from "@towpath/runner-api";
import { modernCall } from "../instance/modern-call.ts";
import { operatorToken } from "../instance/operator.ts";
import { addOwnPerson, type OwnPerson, organizationOf, restOf } from "../instance/own-people.ts";
import { attackOwnValues, ownSource, ownVariable } from "../instance/own-values-attack.ts";
import { databaseUrlOf, runningProcessOf } from "../instance/processes.ts";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { bareEnvironment, dependencyLayers, startBare } from "./bare-python.ts";
import { median, printTable, timed } from "./measure.ts";

const [people = 40, calls = 0, pauseMs = 250, attackSeconds = 3600, idleSeconds = 240, memoryMib = 0] = process.argv
  .slice(2, 8)
  .map(Number);
const name = "bench-own";
const freezeAfterMs = 3000;
const stopAfterMs = idleSeconds * 1000;
const bareRounds = 5;
/** As many come one after the other; the others, and those who wake, so many at a time. */
const inTurn = 100;
const atOnce = 4;
const maxWoken = 200;

const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts(), {
  TOWPATH_LEASE_MS: "1000",
  TOWPATH_FREEZE_AFTER_MS: String(freezeAfterMs),
  TOWPATH_STOP_AFTER_MS: String(stopAfterMs),
  TOWPATH_MAX_INSTANCES: "2000",
  ...(memoryMib > 0 ? { TOWPATH_MEMORY_MIB: String(memoryMib) } : {}),
  TOWPATH_PREWARM_FOR_MS: String(stopAfterMs * 4),
});
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 4 });
const runner = createRunnerClient(
  { kind: "unix", path: join(dataDirectory, "run", "runner.sock") },
  { timeoutMs: 30_000 },
);
const url = `${instance.serversUrl}/${name}/mcp`;
const rest = restOf(instance.url, name);
const directory = await mkdtemp(join(tmpdir(), "towpath-bench-server-"));

/** A person's call, which must be answered with their own value. */
async function callAs({ userId, key }: OwnPerson, at = url): Promise<void> {
  const { headers, ...request } = modernCall("whoami", { who: userId }, "bench");
  const response = await fetch(at, { ...request, headers: { ...headers, authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (!text.includes(`${userId}.1.`)) throw new Error(`${response.status} ${text.slice(0, 300)}`);
}

const ofCallers = async () => (await runner.list()).filter(({ callerId }) => callerId !== null);
const isAsleep = ({ state }: RunnerInstance) => state === "frozen";

async function until(isSo: () => Promise<boolean>, withinMs: number): Promise<void> {
  for (const begun = performance.now(); !(await isSo()); await sleep(200))
    if (performance.now() - begun > withinMs) throw new Error("it didn't come to that in time");
}

const isPython = /^\S*\/python[\d.]* /;

/** What the platform runs for servers: all below the shim. Each process is read once, as thousands run. */
async function sandboxes(): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const children = new Map<number, number[]>();
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const parent = Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const below = (pid: number): number[] => (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  const commandOf = async (pid: number) => {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return { pid, command: command.replaceAll("\0", " ") };
  };
  const shim = (await Promise.all(below(instance.process.pid ?? 0).map(commandOf))).find(({ command }) =>
    command.includes("/shim.ts"),
  );
  return await Promise.all(below(shim?.pid ?? -1).map(commandOf));
}

/** Proportional set sizes in bytes of the interpreters, of networks, and of all that is needed for servers. */
async function memoryOf() {
  const each = await Promise.all(
    (await sandboxes()).map(async ({ pid, command }) => ({ command, bytes: await pssOf(pid) })),
  );
  const sizes = (is: (command: string) => boolean) =>
    each.flatMap(({ command, bytes }) => (is(command) ? [bytes] : []));
  // The programs around an interpreter name it among their arguments.
  const python = sizes((command) => isPython.test(command)).filter((bytes) => bytes > 0);
  const sum = (values: readonly number[]) => values.reduce((total, bytes) => total + bytes, 0);
  return { python, networks: sum(sizes((command) => command.includes("slirp4netns"))), all: sum(sizes(() => true)) };
}

/** Proportional set size of a process in bytes: pages that n processes share count for an nth. */
async function pssOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

const percentile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
const mebibytes = (bytes: number) => (bytes / 1024 ** 2).toFixed(1);

/** Each person once, in turn. */
async function each(persons: readonly OwnPerson[], pause: number): Promise<number[]> {
  const times: number[] = [];
  for (const person of persons) {
    times.push(await timed(() => callAs(person)));
    await sleep(pause);
  }
  return times;
}

/** Each once, several at a time. */
async function crowd<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<number[]> {
  const [left, times]: [Item[], number[]] = [[...items], []];
  const next = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const current = item;
      times.push(await timed(() => work(current)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return times;
}

try {
  await writeFile(join(directory, "server.py"), ownSource);
  await writeFile(join(directory, "requirements.txt"), "fastmcp>=4,<5\n");
  const deployed = await towpath("deploy", directory, "--name", name, "--data-dir", dataDirectory);
  if (deployed.status !== 0) throw new Error(deployed.stdout + deployed.stderr);
  const organizationId = await organizationOf(pool, name);
  const operator = await operatorToken({ dataDirectory });
  await rest(operator, "POST", "/secrets", { keyName: ownVariable, secretValue: "for-builds.0.x", perCaller: true });
  await rest(operator, "PATCH", "", { callerInstances: 1000 });
  const persons: OwnPerson[] = [];
  await crowd(
    Array.from({ length: people }, (_, at) => at),
    async () => {
      const person = await addOwnPerson(pool, organizationId);
      persons.push(person);
      const values = [{ keyName: ownVariable, value: `${person.userId}.1.x` }];
      await rest(person.key, "PATCH", "/my-values", { values });
    },
  );
  const [layer = ""] = await dependencyLayers(dataDirectory);
  const bare: number[] = [];
  const bareToken = { [ownVariable]: `${persons[0]?.userId}.1.x` };
  for (let round = 0; round < bareRounds; round++) {
    const python = await bareEnvironment(layer, join(dataDirectory, "bare"));
    const ask = (at: string) => callAs(persons[0] as OwnPerson, at);
    bare.push(await startBare(python, join(directory, "server.py"), ask, bareToken));
  }

  const started = await each(persons.slice(0, inTurn), pauseMs);
  const startedInCrowd = await crowd(persons.slice(inTurn), (person) => callAs(person));
  const { hits, misses } = await runner.prewarm();
  const running = await ofCallers();
  const memory = await memoryOf();
  const counted = running.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  await until(async () => (await ofCallers()).every(isAsleep), 120_000);
  const asleep = new Set((await ofCallers()).map(({ callerId }) => callerId));
  const shuffled = [...persons].sort(() => Math.random() - 0.5);
  const woken = await each(shuffled.filter(({ userId }) => asleep.has(userId)).slice(0, maxWoken), 20);
  const waits = idleSeconds <= 600;
  if (waits) await until(async () => (await ofCallers()).length === 0, stopAfterMs * 2);
  const leftOver = waits ? (await runner.list()).length : "not waited for";
  const processesLeft = (await sandboxes()).filter(({ command }) => isPython.test(command)).length;
  const ended = shuffled.filter(({ userId }) => waits || !asleep.has(userId));
  const again = await each(ended.slice(0, 40), pauseMs);

  const p95 = (values: readonly number[]) => `p95 ${percentile(values, 0.95).toFixed(0)}`;
  printTable(`${people} people of one server`, [
    { what: "bare python, spawn to first answer", values: bare },
    { what: `first call, starts: ${p95(started)}`, values: started, target: "p95 ≤ 100" },
    ...(startedInCrowd.length === 0
      ? []
      : [{ what: `the same, ${atOnce} at a time: ${p95(startedInCrowd)}`, values: startedInCrowd }]),
    { what: `wakes from sleep: ${p95(woken)}`, values: woken, target: "p95 ≤ 100" },
    ...(again.length === 0 ? [] : [{ what: `had ended, starts again: ${p95(again)}`, values: again }]),
  ]);
  process.stdout.write(
    `waiting interpreters: ${hits} used, not used: ${JSON.stringify(misses)}\n` +
      `${running.length} instances at once, ${memory.python.length} interpreters and what stands by them: median ` +
      `${mebibytes(median(memory.python))} MiB PSS, most ${mebibytes(Math.max(...memory.python))}; all processes for servers ` +
      `${mebibytes(memory.all)} MiB, of which networks ${mebibytes(memory.networks)}: ${mebibytes(memory.all / running.length)} ` +
      `for each instance (target 30); by its control groups: median ${mebibytes(median(counted))}\n` +
      `instances once idle: ${leftOver} (target 0); interpreters that wait for TOWPATH_PREWARM_FOR_MS more, and what stands by them: ${processesLeft}\n`,
  );
  if (calls > 0) {
    const result = await attackOwnValues({
      url,
      rest,
      people: persons.slice(0, 20),
      calls,
      within: { ms: attackSeconds * 1000, answered: 0 },
      atOnce: 3,
      disturbEvery: 1500,
      disturb: async () => void process.kill(runningProcessOf(dataDirectory, "gateway"), "SIGKILL"),
    });
    const { servedUntilMs, ...counts } = result;
    const known = servedUntilMs.filter((ms) => !Number.isNaN(ms));
    process.stdout.write(
      `attacked: ${JSON.stringify(counts)}; after ${known.length} deletions, the last call that was still served was sent after ` +
        `${Math.round(median(known))} ms at the median, ${Math.round(Math.max(...known))} at most (target 1000)\n`,
    );
  }
} finally {
  await runner.close();
  await close();
  await instance.stop();
  await rm(dataDirectory, { recursive: true });
  await rm(directory, { recursive: true });
}
