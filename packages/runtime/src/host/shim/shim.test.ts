import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { tinyServer } from "../../testing/tiny-server.ts";
import { endLeftServers } from "../leftovers.ts";
import { processTree, signalProcess } from "../process/tree.ts";

const root = process.getuid?.() === 0;
const program = (name: string) => new URL(`../../testing/${name}.ts`, import.meta.url).pathname;
let directory = "";
const runners: Runner[] = [];

type Runner = {
  readonly pid: number;
  /** All that it has printed. */
  readonly lines: readonly string[];
  /** Resolves when it has printed a line that begins so; with that line. */
  printed(text: string): Promise<string>;
  /** Sends a command and waits until it is done. */
  execute(command: string): Promise<void>;
  kill(): Promise<void>;
};

beforeEach(async () => {
  directory = await shortDirectory();
  chmodSync(directory, 0o777);
});
afterEach(async () => {
  for (const runner of runners.splice(0)) {
    const left = await below(runner);
    await runner.kill();
    for (const pid of left) signalProcess(pid, "SIGKILL");
  }
  for (const [path = ""] of readFileSync("/proc/self/mounts", "utf8").matchAll(new RegExp(`${directory}/i/\\S+`, "g")))
    spawnSync("/usr/bin/umount", ["-l", path]);
  await rm(directory, { recursive: true, force: true });
});

const alive = (pid: number) => {
  try {
    // A zombie has ended; only its parent has not looked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

function startRunner(asUser: boolean, generation: number, waitMs = 30_000): Runner {
  const command = [process.execPath, program("runner-process"), directory, String(generation), String(waitMs)];
  const drop = ["/usr/bin/unshare", "--mount", "--", process.execPath, program("as-ordinary-user"), directory];
  const [file = "", ...argv] = asUser ? [...drop, ...command] : command;
  const child: ChildProcess = spawn(file, argv, { stdio: ["pipe", "pipe", "inherit"] });
  const lines: string[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const printed = async (text: string): Promise<string> => {
    await expect
      .poll(() => lines.find((line) => line.startsWith(text)) ?? lines.slice(-20), { timeout: 20_000 })
      .toEqual(expect.stringContaining(text));
    return lines.find((line) => line.startsWith(text)) ?? "";
  };
  const runner: Runner = {
    pid: child.pid ?? 0,
    lines,
    printed,
    async execute(order) {
      const [verb, id] = order.split(" ");
      const from = lines.length;
      child.stdin?.write(`${order}\n`);
      await expect.poll(() => lines.slice(from), { timeout: 20_000 }).toContain(`done ${verb} ${id}`);
    },
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
  runners.push(runner);
  return runner;
}

const endpointOf = (id: string) => ({ kind: "unix", path: `${directory}/i/${id}/mcp.sock` }) as const;
const ask = (id: string, path = "/") => tinyServer.get(endpointOf(id), path);

/** Everything that a runner has started. */
const below = async (runner: Runner) => (await processTree(runner.pid)).filter((pid) => pid !== runner.pid);

function groupsOf(shim: number): string[] {
  return ["memory", "unified", "freezer", "pids"].flatMap((tree) => {
    try {
      return readdirSync(`/sys/fs/cgroup/${tree}/towpath`).filter((name) => name.startsWith(`${shim}-`));
    } catch {
      return [];
    }
  });
}

const users: readonly [string, boolean][] = root
  ? [["root", false], ...(isThorough ? [["an ordinary user", true] as [string, boolean]] : [])]
  : [["this user", false]];

describe.each(users)("servers of %s", (_, asUser) => {
  test("RUN-8 survive a kill -9 of the runner; the next one adopts them with socket, log, state and exit", async () => {
    const first = startRunner(asUser, 1);
    await first.printed("ready");
    for (const order of ["start a internet", "start b", "start c", "start unwanted", "freeze b"])
      await first.execute(order);
    const started = await below(first);
    const [shim = 0] = started;
    expect(await ask("a")).toMatch(/^hello/);
    await first.kill();

    // Nobody reads its output now.
    expect(await ask("a", "/print/3")).toBe("printed");
    expect(await ask("c", "/print/20000")).toBe("printed");
    expect(started.filter(alive)).toEqual(started);

    const second = startRunner(asUser, 2);
    await second.printed("ready");
    expect(second.lines.filter((line) => line.startsWith("claim")).toSorted()).toEqual(
      ["a", "b", "c", "unwanted"].map((id) => `claim ${id} memo of ${id}`),
    );
    expect(second.lines.filter((line) => line.startsWith("adopted")).toSorted()).toEqual([
      `adopted a running ${endpointOf("a").path}`,
      `adopted b frozen ${endpointOf("b").path}`,
      `adopted c running ${endpointOf("c").path}`,
    ]);
    for (const number of [0, 1, 2]) await second.printed(`line a line ${number}`);
    await second.printed("line c line 19999");
    expect(second.lines).toContainEqual(expect.stringMatching(/^line c … \d+ bytes of output lost/));
    expect(await ask("unwanted")).toBeNull();

    await ask("a", "/print/1");
    await expect.poll(() => second.lines.filter((line) => line === "line a line 0")).toHaveLength(2);
    expect(await tinyServer.get(endpointOf("b"), "/", 300)).toBeNull();
    await second.execute("wake b");
    expect(await ask("b")).toMatch(/^hello/);
    await second.execute("freeze a");
    expect(await tinyServer.get(endpointOf("a"), "/", 300)).toBeNull();
    await second.execute("wake a");
    await second.execute("memory a");
    expect(Number((await second.printed("memory a")).split(" ")[2])).toBeGreaterThan(1_000_000);

    await second.execute("stop a");
    await second.printed("exit a stopped");
    void ask("c", "/crash");
    await second.printed("exit c exited 3");
    void ask("b", "/allocate/200");
    // Without a control group, Python is refused the memory and continues.
    if (!asUser) await second.printed("exit b out-of-memory");
    // A new one in addition to the adopted ones.
    await second.execute("start d");
    expect(await ask("d")).toMatch(/^hello/);
    const all = [...started, ...(await processTree(shim))];
    second.execute("close -").catch(() => {});
    await expect.poll(() => all.filter(alive), { timeout: 20_000 }).toEqual([]);
    expect(groupsOf(shim)).toEqual([]);
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/i/`);
  });

  test.skipIf(asUser || !root)(
    "RUN-8 CAP-1 forks of an interpreter survive a kill -9 of the runner too, and the interpreter with them",
    async () => {
      const first = startRunner(asUser, 1);
      await first.printed("ready");
      for (const order of ["fork a", "fork b", "fork unwanted", "freeze b"]) await first.execute(order);
      const [shim = 0, ...started] = await below(first);
      await first.kill();
      const second = startRunner(asUser, 2);
      await second.printed("ready");
      expect(second.lines.filter((line) => line.startsWith("adopted")).toSorted()).toEqual([
        `adopted a running ${endpointOf("a").path}`,
        `adopted b frozen ${endpointOf("b").path}`,
      ]);
      expect(await ask("unwanted")).toBeNull();
      await second.execute("wake b");
      expect([await ask("a"), await ask("b")]).toEqual([
        expect.stringMatching(/^hello/),
        expect.stringMatching(/^hello/),
      ]);
      void ask("a", "/crash");
      await second.printed("exit a exited 3");
      expect(await ask("b")).toMatch(/^hello/);
      await second.execute("stop b");
      await second.printed("exit b stopped");
      // The interpreter ends with its last fork.
      await expect.poll(() => started.filter(alive), { timeout: 10_000 }).toEqual([]);
      await expect.poll(() => groupsOf(shim)).toEqual([]);
      await expect.poll(() => readFileSync("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/i/`);
      second.execute("close -").catch(() => {});
    },
  );

  test.runIf(isThorough)(
    "RUN-8 a kill -9 of the shim ends its servers, the runner is notified and can start others; of both, the next one finds nothing",
    async () => {
      const runner = startRunner(asUser, 1);
      await runner.printed("ready");
      await runner.execute("start a internet");
      await runner.execute("start b");
      await runner.execute("freeze b");
      const [shim = Number.NaN, ...servers] = await below(runner);
      process.kill(shim, "SIGKILL");
      await runner.printed("exit a platform-ended");
      await runner.printed("exit b platform-ended");
      await expect.poll(() => servers.filter(alive), { timeout: 15_000 }).toEqual([]);
      await runner.execute("start c");
      expect(await ask("c")).toMatch(/^hello/);
      expect(groupsOf(shim)).toEqual([]);
      // A frozen one ends only when somebody thaws it.
      await runner.execute("freeze c");
      const [second = Number.NaN, ...others] = await below(runner);
      process.kill(second, "SIGKILL");
      await runner.kill();
      const next = startRunner(asUser, 2);
      await next.printed("ready");
      expect(next.lines).toEqual(["ready"]);
      await expect.poll(() => others.filter(alive), { timeout: 15_000 }).toEqual([]);
      expect(groupsOf(second)).toEqual([]);
      expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/i/`);
    },
  );

  test.runIf(isThorough)(
    "RUN-8 RUN-5 a hanging runner doesn't block servers that print, and receives their output again once it continues",
    async () => {
      const runner = startRunner(asUser, 1);
      await runner.printed("ready");
      await runner.execute("start a internet");
      process.kill(runner.pid, "SIGSTOP");
      // Far more than pipes and sockets hold.
      for (let round = 0; round < 5; round++)
        expect(await tinyServer.get(endpointOf("a"), "/print/100000", 30_000)).toBe("printed");
      process.kill(runner.pid, "SIGCONT");
      // A line reports what was lost.
      await runner.printed("line a … ");
      // The flood that was held counts against the lines of these seconds.
      const printsOne = async () => {
        await sleep(200);
        expect(await ask("a", "/print/1")).toBe("printed");
        return runner.lines.at(-1);
      };
      await expect.poll(printsOne, { timeout: 40_000, interval: 200 }).toBe("line a line 0");
    },
  );

  test.runIf(isThorough)(
    "RUN-8 nothing survives the runner for longer than the shim waits for the next one",
    async () => {
      const runner = startRunner(asUser, 1, 1500);
      await runner.printed("ready");
      for (const order of ["start a internet", "start b", "freeze b"]) await runner.execute(order);
      const started = await below(runner);
      await runner.kill();
      expect(await ask("a")).toMatch(/^hello/);
      await expect.poll(() => started.filter(alive), { timeout: 20_000 }).toEqual([]);
      // The next one removes what is left when it starts.
      const next = startRunner(asUser, 2);
      await next.printed("ready");
      expect(next.lines).toEqual(["ready"]);
      expect(groupsOf(started[0] ?? 0)).toEqual([]);
      expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(` ${directory}/i/`);
    },
  );
});

test.runIf(isThorough)(
  "RUN-5 RUN-8 output printed while the runner is killed waits for the next one, even before the shim has noticed",
  async () => {
    const first = startRunner(false, 1);
    await first.printed("ready");
    await first.execute("start a internet");
    const [shim = 0] = await below(first);
    process.kill(shim, "SIGSTOP");
    await first.kill();
    expect(await ask("a", "/print/3")).toBe("printed");
    process.kill(shim, "SIGCONT");
    const second = startRunner(false, 2);
    await second.printed("ready");
    for (const number of [0, 1, 2]) await second.printed(`line a line ${number}`);
  },
);

test("RUN-5 RUN-8 output that was sent to a killed runner but not read reaches the next one once, and no other output twice", async () => {
  const first = startRunner(false, 1);
  await first.printed("ready");
  await first.execute("start a internet");
  await first.printed("line a starting");
  expect(await ask("a", "/print/1")).toBe("printed");
  await first.printed("line a line 0");
  // The shim learns that these are kept.
  await sleep(200);
  process.kill(first.pid, "SIGSTOP");
  expect(await ask("a", "/print/3")).toBe("printed");
  await sleep(200);
  await first.kill();
  const second = startRunner(false, 2);
  await second.printed("line a line 2");
  expect(await ask("a", "/print/1")).toBe("printed");
  const lines = () => second.lines.filter((line) => line.startsWith("line a"));
  await expect.poll(lines).toHaveLength(4);
  expect(lines()).toEqual([0, 1, 2, 0].map((number) => `line a line ${number}`));
});

test("RUN-8 an instance that stops ends the servers that its killed runner left, with their directories", async () => {
  const runner = startRunner(false, 1);
  await runner.printed("ready");
  for (const order of ["start a", "start b", "freeze b"]) await runner.execute(order);
  const started = await below(runner);
  await runner.kill();
  await endLeftServers(directory);
  await expect.poll(() => started.filter(alive)).toEqual([]);
  if (root) expect(readdirSync(`${directory}/i`)).toEqual([]);
  // Without a shim there is nothing to end.
  await endLeftServers(directory);
});

test.runIf(isThorough)("RUN-8 a runner with an older generation does not get the servers", async () => {
  const runner = startRunner(false, 7);
  await runner.printed("ready");
  await runner.execute("start a");
  await startRunner(false, 6).printed("failed A newer runner");
  expect(await ask("a")).toMatch(/^hello/);
  const next = startRunner(false, 8);
  await next.printed("adopted a");
  await runner.printed("superseded");
  expect(await ask("a")).toMatch(/^hello/);
});

/** Starts the server `a` under a launcher, and kills launcher and runner. Resolves to all processes that there were. */
async function killWithLauncher(orphanedMs: number): Promise<number[]> {
  const runnerOfShell = [process.execPath, program("runner-process"), directory, "1", "60000", String(orphanedMs)];
  // The shell stands for the launcher: it is the runner's parent.
  const launcher = spawn("/bin/sh", ["-c", 'exec 3<&0; "$@" <&3 & echo "$!"; wait', "sh", ...runnerOfShell], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  launcher.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await expect.poll(() => text, { timeout: 20_000 }).toContain("ready");
  launcher.stdin.write("start a\n");
  await expect.poll(() => text, { timeout: 20_000 }).toContain("done start a");
  const pid = Number(text.split("\n")[0]);
  const everything = [pid, ...(await processTree(pid))];
  expect(everything.length).toBeGreaterThanOrEqual(3);
  expect(mounts()).toBe(root ? 1 : 0);
  launcher.kill("SIGKILL");
  process.kill(pid, "SIGKILL");
  return everything;
}

const mounts = () => readFileSync("/proc/self/mounts", "utf8").split(directory).length - 1;

test.runIf(isThorough)(
  "RUN-8 killing runner and launcher together ends everything with its mounts, however long the shim would wait",
  async () => {
    const everything = await killWithLauncher(1000);
    await expect.poll(() => everything.filter(alive), { timeout: 20_000 }).toEqual([]);
    expect(mounts()).toBe(0);
  },
);

test.runIf(isThorough)(
  "RUN-8 servers whose runner and launcher are killed together wait a while for the next ones",
  async () => {
    const everything = await killWithLauncher(60_000);
    const next = startRunner(false, 2);
    await next.printed("adopted a");
    expect(await ask("a")).toMatch(/^hello/);
    next.execute("close -").catch(() => {});
    await expect.poll(() => everything.filter(alive), { timeout: 20_000 }).toEqual([]);
    expect(mounts()).toBe(0);
  },
);
