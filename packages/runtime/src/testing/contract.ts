import { randomUUID } from "node:crypto";
import { lstat, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImage } from "../build/step-spec.ts";
import type { BuildSpec, BuildStep, InstanceSpec, OutputSink, RunOptions, RuntimeDriver, ServerSpec } from "../port.ts";
import { shortDirectory } from "./short-directory.ts";
import { testLimits, tinyServer } from "./tiny-server.ts";

/** What a driver sets itself, regardless of the platform's environment. */
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

export function collect(): { lines: string[]; onOutput: OutputSink } {
  const lines: string[] = [];
  return { lines, onOutput: (stream, line) => lines.push(`${stream}: ${line}`) };
}

/** What every driver promises. Runs real processes; needs uv, and Python 3.11 at /usr/bin/python3 or elsewhere. */
export function runtimeDriverContract(name: string, makeDriver: (directory: string) => RuntimeDriver): void {
  describe(`runtime driver contract: ${name}`, () => {
    let directory = "";
    let driver: RuntimeDriver;
    beforeAll(async () => {
      directory = await shortDirectory();
      driver = makeDriver(directory);
    });
    afterAll(async () => {
      await driver.close();
      await rm(directory, { recursive: true, force: true });
    });

    startTests(() => driver);
    buildTests(() => driver);
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

  test("a missing layer or Python is reported to the owner of the server", async () => {
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

  test("a server that fails reports the reason from the harness", async () => {
    const result = await driver().start(instance("fail"), ignore);
    expect(result).toMatchObject({
      ok: false,
      cause: "harness",
      status: { code: "module_missing", module: "nowhere" },
    });
  });

  test("a server that exits silently, and one that never answers, fail to start", async () => {
    const { lines, onOutput } = collect();
    const ended = await driver().start(instance("exit"), onOutput);
    expect(ended).toMatchObject({ ok: false, cause: "exited", exit: { reason: "exited", code: 7 } });
    expect(lines).toContain("stderr: nothing to do");
    const hanging = { ...instance("hang"), startTimeoutMs: 800 };
    expect(await driver().start(hanging, ignore)).toMatchObject({ ok: false, cause: "timeout" });
  });

  test("a link in place of the socket is not accepted", async () => {
    const linking = { ...instance("link"), startTimeoutMs: 800 };
    expect(await driver().start(linking, ignore)).toMatchObject({ ok: false, cause: "timeout" });
  });

  test("a server that crashes resolves `exited`", async () => {
    const result = await driver().start(instance("serve"), ignore);
    if (!result.ok) throw new Error("did not start");
    expect(await result.handle.isAlive()).toBe(true);
    expect(await result.handle.memoryBytes()).toBeGreaterThan(1024 * 1024);
    await tinyServer.get(result.handle.endpoint, "/crash");
    // Its exit has not been reported yet.
    expect(await result.handle.isAlive()).toBe(false);
    expect(await result.handle.exited).toEqual({ reason: "exited", code: 3, signal: null });
    expect((await result.handle.stop(100)).code).toBe(3);
  });

  test("RUN-5 a flood is limited and reported, and does no harm", async () => {
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

function buildTests(driver: () => RuntimeDriver): void {
  const limits = { ...testLimits, memoryBytes: 1024 ** 3, processes: 64 };
  const spec = (change: Partial<BuildSpec> = {}): BuildSpec => ({
    buildId: randomUUID(),
    organizationId: "org-1",
    limits,
    diskBytes: 2 ** 30,
    freeBytes: 0,
    ...change,
  });
  const pythonVersion = async () => {
    const version = await driver().findPython("3.11");
    if (version === null) throw new Error("Python 3.11 is needed for this test.");
    return version;
  };
  /** `paths` arrive as sys.argv[1:]. */
  const python = async (code: string, volumes: BuildStep["volumes"], ...paths: string[]): Promise<BuildStep> => {
    const version = await pythonVersion();
    return {
      argv: [buildImage.python(version), "-c", `import sys\n${code}`, ...paths],
      pythonVersion: version,
      volumes,
      network: "none",
    };
  };
  const options = (lines: string[] = []): RunOptions => ({
    timeoutMs: 20_000,
    outputBytes: 100_000,
    onOutput: (_, line) => lines.push(line),
  });

  test("BLD-18 a driver lists its Pythons", async () => {
    const version = await pythonVersion();
    expect(version).toMatch(/^3\.11\.\d+$/);
    expect(await driver().pythons()).toContainEqual({ version, isDownloaded: false });
    expect(await driver().findPython("3.1")).toBeNull();
  });

  test("a build step sees its volumes at their paths, and its output is kept", async () => {
    const workspace = await driver().openBuild(spec());
    await mkdir(join(workspace.directory("source"), "part"));
    await writeFile(join(workspace.directory("source"), "part/in.txt"), "read");
    const step = await python(
      "print(open(sys.argv[1]).read()); open(sys.argv[2], 'w').write('written')",
      [
        { volume: "source", subPath: "part", path: buildImage.code, access: "read" },
        { volume: "work", path: buildImage.work, access: "write" },
      ],
      `${buildImage.code}/in.txt`,
      `${buildImage.work}/out.txt`,
    );
    const lines: string[] = [];
    expect(await workspace.run(step, options(lines))).toEqual({ reason: "exited", code: 0, signal: null });
    expect(lines).toEqual(["read"]);
    expect(await readFile(join(workspace.directory("work"), "out.txt"), "utf8")).toBe("written");
    await workspace.close();
  });

  test("a step's environment has the operator's settings and nothing of the platform's", async () => {
    const workspace = await driver().openBuild(spec());
    const lines: string[] = [];
    const step = await python("import json, os; print(json.dumps(dict(os.environ)))", []);
    await workspace.run(step, options(lines));
    const found = JSON.parse(lines[0] ?? "{}");
    expect(found.UV_OFFLINE).toBe("1");
    const expected = ["GIT_TERMINAL_PROMPT", "HOME", "LANG", "NO_COLOR", "PATH", "VIRTUAL_ENV"];
    const others = Object.keys(found).filter((name) => !name.startsWith("UV_") && !expected.includes(name));
    expect(others.filter((name) => !["PWD", "LC_CTYPE", "LD_LIBRARY_PATH"].includes(name))).toEqual([]);
    await workspace.close();
  });

  test("BLD-13 an aborted step ends, and so does one that prints too much", async () => {
    const workspace = await driver().openBuild(spec());
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    const sleeping = await python("import time; time.sleep(60)", []);
    const exit = await workspace.run(sleeping, { ...options(), signal: controller.signal });
    expect(exit.reason).toBe("stopped");
    const loud = await python("while True: print('y' * 100)", []);
    expect((await workspace.run(loud, options())).reason).toBe("output-limit");
    await workspace.close();
  });

  test("RUN-1 a step that writes more than the build's limit is stopped", async () => {
    const workspace = await driver().openBuild(spec({ diskBytes: 8 * 1024 * 1024 }));
    const step = await python(
      `import time
for number in range(64):
    open(f"{sys.argv[1]}/{number}", "wb").write(b"x" * (1 << 20))
time.sleep(30)`,
      [{ volume: "dependencies", path: buildImage.dependencies, access: "write" }],
      buildImage.dependencies,
    );
    expect((await workspace.run(step, options())).reason).toBe("disk-limit");
    await workspace.close();
    const full = await driver().openBuild(spec({ freeBytes: 2 ** 60 }));
    expect((await full.run(step, options())).reason).toBe("disk-full");
    await full.close();
  });

  test("a volume becomes a layer, the cache stays, and everything else is removed with the build", async () => {
    const name = "a".repeat(63);
    const first = await driver().openBuild(spec());
    const step = await python(
      "[open(path, 'w') for path in sys.argv[1:]]",
      [
        { volume: "dependencies", path: buildImage.dependencies, access: "write" },
        { volume: "cache", path: buildImage.cache, access: "write" },
      ],
      `${buildImage.cache}/kept`,
      `${buildImage.dependencies}/file`,
    );
    expect((await first.run(step, options())).code).toBe(0);
    expect(await first.publish("dependencies", { name, maxBytes: 1024 ** 2 })).toMatch(/./);
    await first.close();
    await expect(lstat(first.directory("work"))).rejects.toMatchObject({ code: "ENOENT" });
    const lines: string[] = [];
    const second = await driver().openBuild(spec());
    const list = await python(
      "import os; print(os.listdir(sys.argv[1]))",
      [{ volume: "cache", path: buildImage.cache, access: "read" }],
      buildImage.cache,
    );
    await second.run(list, options(lines));
    expect(lines).toEqual(["['kept']"]);
    await second.close();
    const other = await driver().openBuild(spec({ organizationId: "org-2" }));
    await other.run(list, options(lines));
    expect(lines.at(-1)).toBe("[]");
    await other.close();
  });

  test("an id that contains a path is refused", async () => {
    await expect(driver().openBuild(spec({ organizationId: "../x" }))).rejects.toMatchObject({ code: "invalid_spec" });
  });
}
