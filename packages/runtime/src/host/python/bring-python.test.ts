import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { testLimits } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { createSandboxEngine } from "../sandbox/engine.ts";
import { bringPython, type PythonDownloads } from "./bring-python.ts";
import { installedPythons, pythonMount, pythonOf, resolvePython } from "./resolve-python.ts";

// Stands for a build of uv's list: a Python of this host with what the test needs, under a version that no host has.
const version = "3.11.99";
const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
let directory = "";
beforeAll(async () => {
  directory = await shortDirectory();
  const python = await resolvePython({ uv: "uv" }, "3.11");
  if (python === null) throw new Error("Python 3.11 is needed for this test.");
  await mkdir(`${directory}/python/bin`, { recursive: true });
  await mkdir(`${directory}/python/lib`, { recursive: true });
  await cp(python.executable, `${directory}/python/bin/python3.11`);
  for (const name of (await readdir(`${python.prefix}/lib`)).filter((name) => /^libpython3\.11\.so/.test(name)))
    await cp(`${python.prefix}/lib/${name}`, `${directory}/python/lib/${name}`, { dereference: true });
  // Debian's sitecustomize.py is a link out of the directory, which uv refuses.
  const left =
    /^(test|idlelib|lib2to3|tkinter|ensurepip|site-packages|dist-packages|__pycache__|config-.*|sitecustomize\.py)$/;
  await cp(`${python.prefix}/lib/python3.11`, `${directory}/python/lib/python3.11`, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !left.test(basename(path)),
  });
  execFileSync("/usr/bin/tar", ["-czf", `${directory}/python.tar.gz`, "-C", directory, "python"]);
  await rm(`${directory}/python`, { recursive: true });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function downloads(name: string, digest?: string): Promise<PythonDownloads> {
  const sha256 =
    digest ??
    createHash("sha256")
      .update(await readFile(`${directory}/python.tar.gz`))
      .digest("hex");
  const build = {
    name: "cpython",
    arch: { family: machine, variant: null },
    os: "linux",
    libc: "gnu",
    major: 3,
    minor: 11,
    patch: 99,
    prerelease: "",
    variant: null,
    build: "20260101",
    url: `file://${directory}/python.tar.gz`,
    sha256,
  };
  const list = `${directory}/${name}.json`;
  await writeFile(list, JSON.stringify({ [`cpython-${version}-linux-${machine}-gnu`]: build }));
  return { directory: `${directory}/${name}`, mirror: null, list: `file://${list}` };
}

test("BLD-18 a Python that the host lacks is brought once for two builds, and runs in the sandbox", async () => {
  const host = { uv: "uv", downloads: await downloads("pythons") };
  const before = await resolvePython(host, ">=3.10");
  // Two processes of uv: those of one process with the same request share one.
  const bring = (request: string) => bringPython(host.uv, host.downloads, request);
  const [one, other] = await Promise.all([bring(version), bring("3.11")]);
  expect(one).toEqual({ ok: true, version, from: `${directory}/python.tar.gz` });
  expect(other).toEqual(one);
  const names = (await readdir(host.downloads.directory)).filter((name) => name.includes(version));
  expect(names).toHaveLength(1);
  const root = `${host.downloads.directory}/${names[0]}`;
  expect(await installedPythons(host)).toEqual(
    expect.arrayContaining([{ version: before?.version, isDownloaded: false }]),
  );
  // For others, the host's own Python is still the first.
  expect(
    await resolvePython(
      { ...host, uv: realpathSync(execFileSync("/usr/bin/which", ["uv"], { encoding: "utf8" }).trim()) },
      ">=3.10",
    ),
  ).toEqual(before);
  const engine = createSandboxEngine({ stateDirectory: `${directory}/run`, ...strictIsolation });
  const lines: string[] = [];
  try {
    const mounts = [pythonMount({ version, executable: "", prefix: root, insideExecutable: "", env: {} })];
    const argv = ["/opt/python/bin/python3.11", "-I", "-c", "import sys, json; print(sys.prefix)"] as const;
    const env = { LD_LIBRARY_PATH: "/opt/python/lib" };
    await engine.run(
      { argv, env, workingDirectory: "/tmp", mounts, limits: testLimits, network: "none" },
      { timeoutMs: 20_000, outputBytes: 10_000, onOutput: (_, line) => lines.push(line) },
    );
  } finally {
    await engine.close();
  }
  expect(lines).toEqual(["/opt/python"]);
});

test("BLD-18 a Python whose digest differs from its list's is refused, and nothing of it remains", async () => {
  const wrong = await downloads("wrong", "0".repeat(64));
  const refused = await bringPython("uv", wrong, version);
  expect(refused).toMatchObject({ ok: false, reason: expect.stringContaining("its digest is not the expected one") });
  expect((await readdir(wrong.directory)).filter((name) => name.startsWith("cpython"))).toEqual([]);
});

test("BLD-18 a failed download names its source, and a server that needs that Python reports it missing", async () => {
  const lost = { ...(await downloads("lost")), list: `file://${directory}/nowhere.json` };
  const reason = await bringPython("uv", lost, "3.12");
  expect(reason).toMatchObject({ ok: false, reason: expect.stringContaining("nowhere.json") });
  const unknown = await bringPython("uv", await downloads("pythons"), "3.98");
  expect(unknown).toEqual({ ok: false, reason: "uv knows no build of Python 3.98 for this machine." });
  await expect(pythonOf("3.98.1", { uv: "uv", downloads: lost })).rejects.toMatchObject({ code: "python_unavailable" });
});
