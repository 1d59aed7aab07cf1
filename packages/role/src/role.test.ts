import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { replacedMessage } from "./index.ts";

const run = promisify(execFile);
const source = new URL("./index.ts", import.meta.url).href;
const script = `
  import { reportReady, settingsOrExit, stopOnSignal } from "${source}";
  const log = { info() {}, error() {}, fatal() {} };
  const { stop, withinMs } = settingsOrExit(() => JSON.parse(process.argv[1]));
  const ends = { clean: async () => {}, unclean: async () => false, failing: () => Promise.reject(new Error("x")) };
  setInterval(() => {}, 1000);
  stopOnSignal(log, ends[stop] ?? (() => new Promise(() => {})), withinMs);
  reportReady(log);
`;

async function exitCodeAfterSignals(stop: string, withinMs: number): Promise<number | null> {
  const args = ["--input-type=module", "-e", script, JSON.stringify({ stop, withinMs })];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = once(child, "exit");
  expect(await once(child, "message")).toEqual([{ type: "ready" }, undefined]);
  child.kill("SIGTERM");
  child.kill("SIGINT");
  const [code] = await exited;
  return code;
}

test("OPS-1 a process exits on the first signal, with status 1 if it could not stop cleanly or in time", async () => {
  expect(await exitCodeAfterSignals("clean", 60_000)).toBe(0);
  expect(await exitCodeAfterSignals("unclean", 60_000)).toBe(1);
  expect(await exitCodeAfterSignals("failing", 60_000)).toBe(1);
  expect(await exitCodeAfterSignals("hanging", 200)).toBe(1);
});

test.runIf(isThorough)("OPS-10 a process that was replaced takes its time to end, until a signal comes", async () => {
  const start = async (stop: string) => {
    const args = ["--input-type=module", "-e", script, JSON.stringify({ stop, withinMs: 200 })];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    await once(child, "message");
    child.send(replacedMessage);
    return { child, exited: once(child, "exit") };
  };
  expect(await (await start("clean")).exited).toEqual([0, null]);
  const { child, exited } = await start("hanging");
  await sleep(1000);
  expect(child.exitCode).toBeNull();
  child.kill("SIGTERM");
  expect(await exited).toEqual([1, null]);
});

test.runIf(isThorough)(
  "OPS-11 a process that drains on SIGTERM takes its time to end, until a second one comes; no other value is taken",
  async () => {
    const start = async (stop: string, TOWPATH_SIGTERM: string) => {
      const args = ["--input-type=module", "-e", script, JSON.stringify({ stop, withinMs: 200 })];
      const env = { ...process.env, TOWPATH_SIGTERM };
      const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
      const exited = once(child, "exit");
      await Promise.race([once(child, "message"), exited]);
      return { child, exited };
    };
    const { child, exited } = await start("hanging", "drain");
    child.kill("SIGTERM");
    await sleep(1000);
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    expect(await exited).toEqual([1, null]);
    expect(await (await start("clean", "wait")).exited).toEqual([1, null]);
  },
);

test("OPS-1 a process ends when its log's reader is gone", async () => {
  const script = `
    import { openLog, stopOnSignal } from "${source}";
    const log = openLog("info", { role: "test" });
    setInterval(() => {}, 1000);
    stopOnSignal(log, async () => {
      for (let line = 0; line < 3; line++) log.warn({ line }, "not stored");
    });
    log.info("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const closed = once(child.stdout, "close");
  child.stdout.destroy();
  await closed;
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test("OPS-1 invalid settings end the process with a list of problems and no stack", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, "{"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(1);
  expect(text).toContain("JSON");
  expect(text.trim().split("\n")).toHaveLength(1);
});

test.runIf(isThorough)("the modules of drizzle-orm that are found faster are those that Node finds", async () => {
  const modules = async (before: string) => {
    const script = `
      import { createRequire, registerHooks } from "node:module";
      import { resolveDrizzleFaster } from "${source}";
      const found = [];
      const load = (url, context, next) => {
        found.push([url, context.format ?? null]);
        return next(url, context);
      };
      registerHooks({ load });
      ${before}
      const drizzle = await import("drizzle-orm");
      await import("drizzle-orm/pg-core");
      await import("drizzle-orm/node-postgres");
      await import("drizzle-orm/node-postgres/migrator");
      const required = createRequire(process.cwd() + "/x.js")("drizzle-orm");
      const isOneModule = drizzle.sql === (await import("drizzle-orm/sql")).sql && drizzle.sql !== required.sql;
      process.stdout.write(JSON.stringify({ isOneModule, found: found.sort() }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { maxBuffer: 2 ** 24 });
    return JSON.parse(stdout);
  };
  const expected = await modules("");
  expect(expected.isOneModule).toBe(true);
  expect(expected.found.length).toBeGreaterThan(200);
  expect(await modules("resolveDrizzleFaster(); resolveDrizzleFaster();")).toEqual(expected);
});

test("OPS-1 a process that may open too few files reports how many it needs, and how to raise the limit", async () => {
  const script = `
    const { neededOpenFiles, requireOpenFiles } = await import("${source}");
    requireOpenFiles(neededOpenFiles.sandboxes);
    process.stdout.write("enough");
  `;
  const start = (limit: number) =>
    run("/bin/sh", [
      "-c",
      `ulimit -n ${limit}; exec "$@"`,
      "sh",
      process.execPath,
      "--input-type=module",
      "-e",
      script,
    ]);
  await expect(start(256)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^A process may open only 256 files here.*needs 4096.*ulimit -n 4096.*LimitNOFILE/),
  });
  expect((await start(4096)).stdout).toBe("enough");
  // A process raises it by itself up to the hard limit.
  const soft = run("/bin/sh", [
    "-c",
    'ulimit -Sn 256; exec "$@"',
    "sh",
    process.execPath,
    "--input-type=module",
    "-e",
    script,
  ]);
  expect((await soft).stdout).toBe("enough");
});
