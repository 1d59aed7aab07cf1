import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { SupervisedProcess } from "./supervised-process.ts";

let directory = "";
beforeEach(async () => {
  directory = await shortDirectory();
  // Restarts are reported on stderr.
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

const limits = {
  readyWithinMs: 20_000,
  maxLogBytes: 2_000,
  firstPauseMs: 20,
  maxPauseMs: 40,
  settledAfterMs: 60_000,
};

const commandOf = (file: string) => [process.execPath, `${directory}/${file}`];

async function supervise(code: string, change: Partial<typeof limits> = {}): Promise<SupervisedProcess> {
  await writeFile(`${directory}/role.mjs`, code);
  const env = { PATH: process.env.PATH ?? "", FOLDER: directory };
  return new SupervisedProcess(
    { name: "worker", command: commandOf("role.mjs"), env, stopSignal: "SIGTERM", socket: null, runsAlone: false },
    directory,
    { ...limits, ...change },
  );
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("OPS-1 a process that does not get ready is killed, so that the next try does not run beside it", async () => {
  const role = await supervise(
    `import { writeFileSync } from "node:fs";
     writeFileSync(process.env.FOLDER + "/pid", String(process.pid));
     process.on("SIGTERM", () => {});
     setInterval(() => {}, 1000);`,
    { readyWithinMs: 1_500 },
  );
  await expect(role.start()).rejects.toThrow("was not ready within 1.5 s");
  expect(isRunning(Number(await readFile(`${directory}/pid`, "utf8")))).toBe(false);
  await role.stop(100);
});

test("OPS-12 a program that can't report that it is ready is asked until it serves", async () => {
  await writeFile(`${directory}/role.mjs`, "setInterval(() => {}, 1000);");
  const command = [process.execPath, `${directory}/role.mjs`];
  const env = { PATH: process.env.PATH ?? "" };
  let asked = 0;
  const serves = async () => ++asked === 3;
  const caddy = new SupervisedProcess(
    { name: "caddy", command, env, stopSignal: "SIGTERM", socket: null, runsAlone: true, serves },
    directory,
    limits,
  );
  await caddy.start();
  expect(asked).toBe(3);
  await caddy.stop(1000);
  const ends = {
    name: "caddy",
    command: ["false"],
    env,
    stopSignal: "SIGTERM",
    socket: null,
    runsAlone: true,
    serves: async () => false,
  } as const;
  await expect(new SupervisedProcess(ends, directory, limits).start()).rejects.toThrow("ended while starting");
});

test("OPS-1 logs of a process that runs for long stay bounded, and one earlier file is kept", async () => {
  const role = await supervise(
    `process.send({ type: "ready" });
     for (let at = 0; at < 400; at++) console.log("line " + at + " " + "x".repeat(40));
     console.log("last");
     setInterval(() => {}, 1000);`,
  );
  await role.start();
  await expect.poll(() => readFile(`${directory}/worker.log`, "utf8")).toMatch(/last\n$/);
  expect((await stat(`${directory}/worker.log`)).size).toBeLessThan(2_200);
  expect((await stat(`${directory}/worker.log.1`)).size).toBeLessThan(2_200);
  await role.stop(1000);
});

test("GW-10 errors for which the log file has no room are printed, each once", async () => {
  // A directory that isn't empty can be neither appended to nor replaced.
  await mkdir(`${directory}/worker.log`);
  await mkdir(`${directory}/worker.log.1/in-the-way`, { recursive: true });
  const role = await supervise(
    `process.send({ type: "ready" });
     const line = (level, msg) => console.log(JSON.stringify({ level, time: 1, role: "worker", msg }));
     for (const msg of ["3 rows could not be stored", "3 rows could not be stored", "2 rows could not be stored"]) line(50, msg);
     line(30, "all is well");
     line(60, "end");
     setInterval(() => {}, 1000);`,
  );
  await role.start();
  const texts = () => vi.mocked(process.stderr.write).mock.calls.map(([text]) => String(text));
  await expect.poll(() => texts().at(-1)).toBe("! worker: end\n");
  expect(texts().slice(0, -1)).toEqual([
    "! worker: 3 rows could not be stored\n",
    "! worker: 2 rows could not be stored\n",
  ]);
  await role.stop(1000);
});

test("OPS-1 a process that ends unexpectedly is restarted", async () => {
  const role = await supervise(
    `import { appendFileSync } from "node:fs";
     appendFileSync(process.env.FOLDER + "/starts", ".");
     process.send({ type: "ready" });
     setTimeout(() => process.exit(3), 50);`,
  );
  await role.start();
  await expect.poll(() => readFile(`${directory}/starts`, "utf8"), { timeout: 10_000 }).toMatch(/^\.{3}/);
  await role.stop(1000);
});

test("OPS-1 a process that can't start is tried again with one line for each state, without stacks or doubled texts", async () => {
  const role = await supervise(
    `import { existsSync } from "node:fs";
     const at = (name) => process.env.FOLDER + "/" + name;
     if (existsSync(at("broken"))) {
       console.log(JSON.stringify({ level: 60, err: { message: "no database", stack: "Error: no database\\n    at x" }, msg: "no database" }));
       throw Object.assign(new Error("no database"), { code: "E_DATABASE" });
     }
     process.send({ type: "ready" });
     setInterval(() => {}, 100);
     setInterval(() => existsSync(at("broken")) && process.exit(7), 20);`,
    { settledAfterMs: 1 },
  );
  await role.start();
  const printed = () => vi.mocked(process.stderr.write).mock.calls.map(([text]) => String(text));
  const starts = async () => (await readFile(`${directory}/worker.log`, "utf8")).split('"no database"').length - 1;
  await writeFile(`${directory}/broken`, "");
  await expect.poll(starts, { timeout: 20_000 }).toBeGreaterThan(6);
  await rm(`${directory}/broken`);
  await expect.poll(() => printed().at(-1), { timeout: 20_000 }).toContain("worker runs again");
  await role.stop(1000);
  expect(printed()).toEqual([
    expect.stringContaining("worker ended (status 7); restarting now."),
    expect.stringMatching(
      /can't start: ended while starting \(status 1\): no database\. Trying again with growing pauses\. Log: \S+\n$/,
    ),
    expect.stringContaining("worker runs again."),
  ]);
  expect(printed()[1]?.split("\n")).toHaveLength(2);
});

test("OPS-1 a process that logs nothing counts as ready when it says so", async () => {
  const role = await supervise(`process.send({ type: "ready" }); setInterval(() => {}, 1000);`, {
    readyWithinMs: 5_000,
  });
  await role.start();
  expect(await readFile(`${directory}/worker.log`, "utf8").catch(() => "")).toBe("");
  await role.stop(1000);
});

test.runIf(isThorough)("OPS-1 a process that is killed again and again is back at once every time", async () => {
  // The pauses are longer than the test: after a pause it would not be back.
  const role = await supervise(
    `import { appendFileSync } from "node:fs";
     process.send({ type: "ready" }, () => appendFileSync(process.env.FOLDER + "/pids", process.pid + "\\n"));
     setInterval(() => {}, 1000);`,
    { firstPauseMs: 600_000, maxPauseMs: 600_000 },
  );
  await role.start();
  // A line counts with its end: the file exists before anything is written to it.
  const pids = async () => (await readFile(`${directory}/pids`, "utf8")).split("\n").slice(0, -1);
  for (let kills = 1; kills <= 5; kills++) {
    await expect.poll(async () => (await pids()).length, { timeout: 20_000 }).toBe(kills);
    process.kill(Number((await pids()).at(-1)), "SIGKILL");
  }
  await expect.poll(async () => (await pids()).length, { timeout: 20_000 }).toBe(6);
  await role.stop(1000);
});
