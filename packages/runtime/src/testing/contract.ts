import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxSpec } from "../engine.ts";
import type { InstanceSpec, OutputSink, RunOptions, RuntimeDriver, ServerSpec } from "../port.ts";
import { shortDirectory } from "./short-directory.ts";
import { testLimits, tinyServer } from "./tiny-server.ts";

const python = "/usr/bin/python3";

/** What a driver sets itself, whatever the platform's environment says. */
const serverVariables = [
  "HOME",
  "LANG",
  "PATH",
  "PWD",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONPATH",
  "PYTHONUNBUFFERED",
  "TMPDIR",
  "VIRTUAL_ENV",
];

function collect(): { lines: string[]; onOutput: OutputSink } {
  const lines: string[] = [];
  return { lines, onOutput: (stream, line) => lines.push(`${stream}: ${line}`) };
}

function script(code: string, change: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    argv: [python, "-c", code],
    env: { PATH: "/usr/bin:/bin" },
    workingDirectory: "/tmp",
    mounts: [],
    limits: testLimits,
    network: "none",
    ...change,
  };
}

/** What every driver promises. Runs real processes; needs /usr/bin/python3. */
export function runtimeDriverContract(name: string, makeDriver: (directory: string) => RuntimeDriver): void {
  describe(`runtime driver contract: ${name}`, () => {
    let folder = "";
    let driver: RuntimeDriver;
    const run = (spec: SandboxSpec, options: Partial<RunOptions> = {}) => {
      const { lines, onOutput } = collect();
      return driver
        .run(spec, { timeoutMs: 20_000, outputBytes: 1024 * 1024, onOutput, ...options })
        .then((exit) => ({ exit, lines }));
    };
    beforeAll(async () => {
      folder = await shortDirectory();
      driver = makeDriver(folder);
    });
    afterAll(async () => {
      await driver.close();
      await rm(folder, { recursive: true, force: true });
    });

    runTests(run, () => folder);
    startTests(() => driver);
  });
}

type Run = (
  spec: SandboxSpec,
  options?: Partial<RunOptions>,
) => Promise<{ exit: Awaited<ReturnType<RuntimeDriver["run"]>>; lines: string[] }>;

function runTests(run: Run, folder: () => string): void {
  test("run gives lines by stream and the exit status", async () => {
    const { exit, lines } = await run(
      script("import sys; print('out'); print('err', file=sys.stderr); print('last', end=''); sys.exit(4)"),
    );
    expect(exit).toEqual({ reason: "exited", code: 4, signal: null });
    expect(lines.toSorted()).toEqual(["stderr: err", "stdout: last", "stdout: out"]);
  });

  test("RUN-4 the environment is the given one and nothing of the platform's", async () => {
    const env = { A: "with 'quotes' \"double\" $HOME\nand a line", "-B": "--dash", PATH: "/usr/bin" };
    const { lines } = await run(script("import os, json; print(json.dumps(dict(os.environ)))", { env }));
    const { PWD: _, LC_CTYPE: __, ...found } = JSON.parse(lines[0]?.slice("stdout: ".length) ?? "{}");
    expect(found).toEqual(env);
  });

  test("arguments arrive as they are: spaces, quotes, leading dashes, nothing", async () => {
    const strings = ["--setenv", "-c", "a b", "'", '"', "$(id)", "", "--", "é\n"];
    const { lines } = await run(
      script("", { argv: [python, "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", ...strings] }),
    );
    expect(JSON.parse(lines[0]?.slice("stdout: ".length) ?? "")).toEqual(strings);
  });

  test("a folder with spaces, quotes and a leading dash in its name can be mounted, read and written", async () => {
    const host = join(folder(), `-- it's "odd" $HOME`);
    await mkdir(host);
    await writeFile(join(host, "in.txt"), "read");
    const mounts = [{ host, inside: "/work space/-x", writable: true }];
    const code =
      "print(open('in.txt').read()); open('out.txt', 'w').write('x'); import os; print(sorted(os.listdir('.')))";
    const { exit, lines } = await run(script(code, { mounts, workingDirectory: "/work space/-x" }));
    expect(lines).toEqual(["stdout: read", "stdout: ['in.txt', 'out.txt']"]);
    expect(exit.code).toBe(0);
  });

  test("a time limit ends the command and what it started", async () => {
    const started = Date.now();
    const code = "import subprocess; subprocess.Popen(['/usr/bin/sleep', '60']); import time; time.sleep(60)";
    const { exit } = await run(script(code), { timeoutMs: 700 });
    expect(exit.reason).toBe("timed-out");
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("an abort signal ends the command", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    const { exit } = await run(script("import time; time.sleep(60)"), { signal: controller.signal });
    expect(exit.reason).toBe("stopped");
    const again = await run(script("print(1)"), { signal: controller.signal });
    expect(again).toEqual({ exit: { reason: "stopped", code: null, signal: null }, lines: [] });
  });

  test("RUN-5 endless output ends a command at its limit and no more than the limit is passed on", async () => {
    let bytes = 0;
    const { exit } = await run(script("while True: print('y' * 100)"), {
      outputBytes: 100_000,
      onOutput: (_, line) => {
        bytes += line.length;
      },
    });
    expect(exit.reason).toBe("output-limit");
    expect(bytes).toBeLessThan(300_000);
  });

  test("RUN-5 lines count too: empty ones do not pass by the million", async () => {
    let lines = 0;
    const { exit } = await run(script("import os\nwhile True: os.write(1, b'\\n' * 65536)"), {
      outputBytes: 100_000,
      onOutput: () => {
        lines += 1;
      },
    });
    expect(exit.reason).toBe("output-limit");
    expect(lines).toBeLessThan(10_000);
  });

  test("a command that a signal ended says which", async () => {
    const { exit } = await run(script("import os, signal; os.kill(os.getpid(), signal.SIGABRT)"));
    expect(exit).toEqual({ reason: "signaled", code: null, signal: "SIGABRT" });
  });
}

function startTests(driver: () => RuntimeDriver): void {
  const ignore: OutputSink = () => {};
  const instance = (mode: Parameters<typeof tinyServer.server>[0], change: Partial<ServerSpec> = {}): InstanceSpec => ({
    instanceId: randomUUID(),
    server: tinyServer.server(mode, change),
    startTimeoutMs: 10_000,
  });

  test("RUN-3 a server starts, answers, freezes, wakes and stops", async () => {
    const { lines, onOutput } = collect();
    const result = await driver().start(instance("serve"), onOutput);
    if (!result.ok) throw new Error(`did not start: ${JSON.stringify(result)} ${lines.join("\n")}`);
    const { handle } = result;
    const greeting = await tinyServer.get(handle.endpoint);
    expect(greeting).toMatch(/^hello from \d+$/);
    expect(await handle.freeze()).toBe(true);
    expect(await handle.freeze()).toBe(true);
    expect(await tinyServer.get(handle.endpoint, "/", 400)).toBeNull();
    await handle.wake();
    await handle.wake();
    expect(await tinyServer.get(handle.endpoint)).toBe(greeting);
    expect(await handle.freeze()).toBe(true);
    const [exit, again] = await Promise.all([handle.stop(2000), handle.stop(2000)]);
    expect(exit.reason).toBe("stopped");
    expect(again).toEqual(exit);
    expect(await handle.exited).toEqual(exit);
    expect(await tinyServer.get(handle.endpoint, "/", 400)).toBeNull();
    expect(lines).toContain("stdout: starting in mode serve");
  });

  test("a layer or a Python that is not there is named for the owner of the server", async () => {
    const { layers } = tinyServer.server("serve");
    const lost = instance("serve", { layers: { ...layers, code: "f".repeat(64) } });
    await expect(driver().start(lost, ignore)).rejects.toMatchObject({ code: "layer_unavailable" });
    const old = instance("serve", { pythonVersion: "3.1.4" });
    await expect(driver().start(old, ignore)).rejects.toMatchObject({ code: "python_unavailable" });
  });

  test("RUN-4 a server's environment has its variables and nothing of the platform's", async () => {
    const environment = { ...tinyServer.server("serve").environment, TOKEN: "a 'b' $HOME" };
    const result = await driver().start(instance("serve", { environment }), ignore);
    if (!result.ok) throw new Error("did not start");
    const found = JSON.parse((await tinyServer.get(result.handle.endpoint, "/environment")) ?? "{}");
    expect(found).toMatchObject(environment);
    expect(Object.keys(found).filter((name) => name in process.env && !serverVariables.includes(name))).toEqual([]);
    await result.handle.stop(100);
  });

  test("a server that fails says why, by the harness", async () => {
    const result = await driver().start(instance("fail"), ignore);
    expect(result).toMatchObject({
      ok: false,
      cause: "harness",
      status: { code: "module_missing", module: "nowhere" },
    });
  });

  test("a server that ends without a word, and one that never answers", async () => {
    const { lines, onOutput } = collect();
    const ended = await driver().start(instance("exit"), onOutput);
    expect(ended).toMatchObject({ ok: false, cause: "exited", exit: { reason: "exited", code: 7 } });
    expect(lines).toContain("stderr: nothing to do");
    const hanging = { ...instance("hang"), startTimeoutMs: 800 };
    expect(await driver().start(hanging, ignore)).toMatchObject({ ok: false, cause: "timeout" });
  });

  test("a link in the place of the socket is not taken for one", async () => {
    const linking = { ...instance("link"), startTimeoutMs: 800 };
    expect(await driver().start(linking, ignore)).toMatchObject({ ok: false, cause: "timeout" });
  });

  test("a server that crashes resolves `exited`", async () => {
    const result = await driver().start(instance("serve"), ignore);
    if (!result.ok) throw new Error("did not start");
    expect(await result.handle.isAlive()).toBe(true);
    expect(await result.handle.memoryBytes()).toBeGreaterThan(1024 * 1024);
    await tinyServer.get(result.handle.endpoint, "/crash");
    // Its end has not been told yet.
    expect(await result.handle.isAlive()).toBe(false);
    expect(await result.handle.exited).toEqual({ reason: "exited", code: 3, signal: null });
    expect((await result.handle.stop(100)).code).toBe(3);
  });

  test("RUN-5 a flood is bounded, says so and harms nothing", async () => {
    const lines: string[] = [];
    const result = await driver().start(instance("flood"), (_, line) => lines.push(line));
    if (!result.ok) throw new Error("did not start");
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await tinyServer.get(result.handle.endpoint)).toMatch(/^hello/);
    await result.handle.stop(500);
    expect(lines.length).toBeLessThan(12_000);
    expect(lines.some((line) => /^… \d+ lines \(\d+ bytes\) dropped/.test(line))).toBe(true);
  });
}
