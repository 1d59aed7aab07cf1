import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { type BuildSpec, type BuildStep, type BuildWorkspace, buildImage, type RunOptions } from "../port/builds.ts";
import type { RuntimeDriver } from "../port/driver.ts";
import { testLimits } from "./tiny-server.ts";

const limits = { ...testLimits, memoryBytes: 1024 ** 3, processes: 64 };
const specOf = (change: Partial<BuildSpec> = {}): BuildSpec => ({
  buildId: randomUUID(),
  organizationId: "org-1",
  limits,
  diskBytes: 2 ** 30,
  freeBytes: 0,
  ...change,
});
const options = (lines: string[] = []): RunOptions => ({
  timeoutMs: 20_000,
  outputBytes: 100_000,
  onOutput: (_, line) => lines.push(line),
});
const work = { volume: "work", path: buildImage.work, access: "write" } as const;
const done = { reason: "exited", code: 0, signal: null };
const textOf = async (workspace: BuildWorkspace, path: string) =>
  new TextDecoder().decode(await workspace.read("work", path, 1000));

/** The build contract of every driver. */
export function buildTests(driver: () => RuntimeDriver): void {
  const open = (change: Partial<BuildSpec> = {}) => driver().builds.open(specOf(change));
  /** `paths` arrive as sys.argv[1:]. */
  const python = async (code: string, volumes: BuildStep["volumes"], ...paths: string[]): Promise<BuildStep> => {
    const version = await driver().host.pythons.find("3.11");
    if (version === null) throw new Error("Python 3.11 is needed for this test.");
    return {
      argv: [buildImage.python(version), "-c", `import os, sys\n${code}`, ...paths],
      pythonVersion: version,
      volumes,
      network: "none",
    };
  };

  test("a build step sees files written to its volumes, and its output can be read", async () => {
    const workspace = await open();
    const streamed = Readable.from([Buffer.from("in "), Buffer.from("parts")]);
    await workspace.write("source", [
      { path: "part/in.txt", kind: "file", access: "read", content: "read" },
      { path: "part/streamed", kind: "file", access: "execute", content: streamed },
      { path: "part/link", kind: "link", target: "in.txt" },
      { path: "part/empty", kind: "directory" },
    ]);
    const code = `names = sorted(os.listdir("."))
print(names, open("link").read(), open("streamed").read(), os.access("streamed", os.X_OK), os.access("in.txt", os.X_OK))
open(sys.argv[1], "w").write("written")`;
    const source = { volume: "source", subPath: "part", path: buildImage.code, access: "read" } as const;
    const lines: string[] = [];
    const step = await python(code, [source, work], `${buildImage.work}/out.txt`);
    expect(await workspace.run(step, options(lines))).toEqual(done);
    expect(lines).toEqual(["['empty', 'in.txt', 'link', 'streamed'] read in parts True False"]);
    expect(await textOf(workspace, "out.txt")).toBe("written");
    await workspace.close();
  });

  test("BLD-2 links, pipes, directories and large files that steps leave are neither followed nor read", async () => {
    const workspace = await open();
    const code = `os.chdir(sys.argv[1])
os.symlink("/etc/passwd", "link")
os.symlink("/etc", "directory")
os.mkfifo("pipe")
os.mkdir("nested")
open("nested/file", "w").write("read")
open("large", "w").write("x" * 1001)`;
    expect(await workspace.run(await python(code, [work], buildImage.work), options())).toEqual(done);
    for (const path of ["link", "directory/passwd", "pipe", "nested", "large", "missing"])
      await expect(workspace.read("work", path, 1000), path).rejects.toMatchObject({ code: "unreadable" });
    expect(await textOf(workspace, "nested/file")).toBe("read");
    // Written over, the link is gone and its target untouched.
    await workspace.write("work", [{ path: "link", kind: "file", access: "shared", content: "mine" }]);
    expect(await textOf(workspace, "link")).toBe("mine");
    for (const path of ["../out", "/out", "a//b", "directory/out"]) {
      const written = workspace.write("work", [{ path, kind: "file", access: "read", content: "" }]);
      await expect(written, path).rejects.toMatchObject({ code: "invalid_spec" });
    }
    await workspace.close();
  });

  test("a step can change a file that is shared with it", async () => {
    const workspace = await open();
    await workspace.write("work", [{ path: "shared", kind: "file", access: "shared", content: "old" }]);
    const code = "open(sys.argv[1], 'w').write('new')";
    expect((await workspace.run(await python(code, [work], `${buildImage.work}/shared`), options())).code).toBe(0);
    expect(await textOf(workspace, "shared")).toBe("new");
    await workspace.close();
  });

  test("a write rejects with the error that its entries throw", async () => {
    const workspace = await open();
    async function* failing() {
      yield { path: "a", kind: "file", access: "read", content: "" } as const;
      throw new Error("the archive is damaged");
    }
    await expect(workspace.write("source", failing())).rejects.toThrow("the archive is damaged");
    await workspace.close();
  });

  test("a step's environment has the operator's settings and nothing of the platform's", async () => {
    const workspace = await open();
    const lines: string[] = [];
    const step = await python("import json; print(json.dumps(dict(os.environ)))", []);
    await workspace.run(step, options(lines));
    const found = JSON.parse(lines[0] ?? "{}");
    expect(found.UV_OFFLINE).toBe("1");
    const expected = ["GIT_TERMINAL_PROMPT", "HOME", "LANG", "NO_COLOR", "PATH", "VIRTUAL_ENV"];
    const others = Object.keys(found).filter((name) => !name.startsWith("UV_") && !expected.includes(name));
    expect(others.filter((name) => !["PWD", "LC_CTYPE", "LD_LIBRARY_PATH"].includes(name))).toEqual([]);
    await workspace.close();
  });

  test("BLD-13 an aborted step ends, and so does one that prints too much", async () => {
    const workspace = await open();
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
    const workspace = await open({ diskBytes: 8 * 1024 * 1024 });
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
    const full = await open({ freeBytes: 2 ** 60 });
    expect((await full.run(step, options())).reason).toBe("disk-full");
    await full.close();
  });

  const cache = { volume: "cache", path: buildImage.cache } as const;
  const listOf = async (change: Partial<BuildSpec> = {}) => {
    const workspace = await open(change);
    const lines: string[] = [];
    const list = await python("print(os.listdir(sys.argv[1]))", [{ ...cache, access: "read" }], buildImage.cache);
    await workspace.run(list, options(lines));
    await workspace.close();
    return lines.at(-1);
  };

  test("a volume becomes a layer, and the cache stays until it is discarded", async () => {
    const first = await open();
    const step = await python(
      "[open(path, 'w') for path in sys.argv[1:]]",
      [
        { volume: "dependencies", path: buildImage.dependencies, access: "write" },
        { ...cache, access: "write" },
      ],
      `${buildImage.cache}/kept`,
      `${buildImage.dependencies}/file`,
    );
    expect((await first.run(step, options())).code).toBe(0);
    expect(await first.publish("dependencies", { name: "a".repeat(64), maxBytes: 1024 ** 2 })).toMatch(/./);
    await first.close();
    await expect(first.read("dependencies", "file", 10)).rejects.toMatchObject({ code: "unreadable" });
    expect(await listOf()).toBe("['kept']");
    expect(await listOf({ organizationId: "org-2" })).toBe("[]");
    const { caches } = driver().builds;
    expect([...(await caches.sizes()).keys()].toSorted()).toEqual(["org-1", "org-2"]);
    await caches.discard("org-1");
    expect(await listOf()).toBe("[]");
    expect(await caches.removeDiscarded(new Date(0))).toBe(0);
    expect(await caches.removeDiscarded(new Date(Date.now() + 1000))).toBe(1);
  });

  test("RUN-8 a build's leftovers are removed, unless that build runs, with any worker", async () => {
    const { builds } = driver();
    const [running, lost] = [specOf(), specOf()];
    const [one, other] = [await builds.open(running), await builds.open(lost)];
    for (const workspace of [one, other])
      await workspace.write("work", [{ path: "file", kind: "file", access: "read", content: "x" }]);
    const asked: string[] = [];
    const isRunning = async (ids: readonly string[]) => {
      asked.push(...ids);
      return new Set([running.buildId]);
    };
    expect(await builds.removeLost(isRunning)).toBe(1);
    expect(asked.toSorted()).toEqual([running.buildId, lost.buildId].toSorted());
    expect(await textOf(one, "file")).toBe("x");
    await expect(other.read("work", "file", 10)).rejects.toMatchObject({ code: "unreadable" });
    await expect(builds.removeLost(() => Promise.reject(new Error("no database")))).rejects.toThrow("no database");
    expect(await textOf(one, "file")).toBe("x");
    await one.close();
  });

  test("an id that contains a path is refused", async () => {
    await expect(open({ organizationId: "../x" })).rejects.toMatchObject({ code: "invalid_spec" });
  });
}
