import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkExport, unpackExport, variablesFileOf, writeExport } from "./index.ts";
import { type SampleEntry, sampleDocument, sampleParts, tarOf } from "./testing/sample.ts";

const run = promisify(execFile);
let directory: string;
let target: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-export-"));
  target = join(directory, "export");
  await mkdir(target);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const read = (path: string) => readFile(join(target, path), "utf8");
const written = async (changes = {}) => buffer(writeExport(await sampleParts(changes)));
const unpack = (tar: Buffer, limits?: Parameters<typeof unpackExport>[2]) =>
  unpackExport(Readable.from([tar]), target, limits);

/** The export in `target`, to be changed. */
async function exported(): Promise<void> {
  expect(await unpack(await written())).toEqual({ ok: true, value: sampleDocument });
}

test("OPS-8 an export has code without bytecode, exact versions, and what the build made of the server's own files", async () => {
  await exported();
  expect((await readdir(join(target, "source"))).toSorted()).toEqual([
    "latest.py",
    "requirements.txt",
    "run.sh",
    "server.py",
    "uv.lock",
  ]);
  expect(await readlink(join(target, "source/latest.py"))).toBe("server.py");
  expect((await stat(join(target, "source/run.sh"))).mode & 0o777).toBe(0o755);
  expect((await read("requirements.txt")).split("\n").slice(1)).toEqual([
    "--extra-index-url https://wheels.example/cpu",
    "fastmcp==2.14.0",
    "tides @ git+https://git.example/tides@c0ffee",
    "",
  ]);
  const installed = await readdir(join(target, "installed"), { recursive: true, withFileTypes: true });
  const files = installed.filter((each) => each.isFile());
  expect(files.map(({ parentPath, name }) => join(parentPath, name).slice(target.length + 11)).toSorted()).toEqual([
    "_towpath_project.pth",
    "common-0.1.dist-info/METADATA",
    "common-0.1.dist-info/RECORD",
    "common-0.1.dist-info/direct_url.json",
    "common/__init__.py",
    "weather-0.3.dist-info/INSTALLER",
    "weather-0.3.dist-info/METADATA",
    "weather-0.3.dist-info/entry_points.txt",
  ]);
  expect(await read("installed/_towpath_project.pth")).toBe("../source\n../source/src\n");
  expect(await read("runner/__main__.py")).toBe("print('runs')\n");
  expect(JSON.parse(await read("towpath.json"))).toEqual(sampleDocument);
});

test("OPS-8 its README names how to run it, who may call it then, its variables and its data; the Dockerfile installs its lock", async () => {
  await exported();
  const readme = await read("README.md");
  for (const text of [
    "uv venv --python 3.12.4\nuv pip sync --index-strategy unsafe-best-match requirements.txt\nuv run --no-project python runner",
    "**It checks no callers:** anyone who reaches the address can call it. Towpath let only members",
    "It reads `API_KEY` from its environment.",
    "-v weather-one-data:/data",
    `commit ${"a".repeat(40)} of the instance's repository weather (branch main)`,
  ]) {
    expect(readme).toContain(text);
  }
  expect((await read("Dockerfile")).split("\n")).toEqual(
    expect.arrayContaining([
      "FROM python:3.12.4-slim",
      expect.stringMatching(/^RUN apt-get update .* git /),
      "RUN uv venv && uv pip sync --index-strategy unsafe-best-match requirements.txt",
      "USER server",
      'CMD [".venv/bin/python", "runner", "--listen", "0.0.0.0:8000"]',
    ]),
  );
  expect(await read(".dockerignore")).toContain("variables.json\n");
});

test("OPS-8 its digests are checked by sha256sum, too, and what was added since doesn't matter", async () => {
  await exported();
  const { stdout } = await run("sha256sum", ["--check", "SHA256SUMS"], { cwd: target });
  expect(stdout).toContain("source/server.py: OK");
  await mkdir(join(target, ".venv/bin"), { recursive: true });
  await symlink("/usr/bin/python3", join(target, ".venv/bin/python"));
  await writeFile(join(target, "variables.json"), "{}");
  expect(await checkExport(target)).toEqual({ ok: true, value: sampleDocument });
  expect(["/a/weather", "/a/weather.tar"].map(variablesFileOf)).toEqual([
    "/a/weather/variables.json",
    "/a/weather.variables.json",
  ]);
});

test("OPS-8 a layer that can't be read to its end breaks the archive off", async () => {
  async function* broken() {
    yield Buffer.from("no layer");
  }
  await expect(written({ openLayer: async () => broken() })).rejects.toThrow();
  // Nothing of it was taken for an export.
  expect(await readdir(target)).toEqual([]);
});

test.each([
  ["half a file", (tar: Buffer) => tar.subarray(0, Math.floor(tar.length / 2)), "not a whole export"],
  [
    "a file without its last entry",
    (tar: Buffer) => tar.subarray(0, tar.lastIndexOf("weather-one/SHA256SUMS")),
    "no SHA256SUMS",
  ],
  ["another file", () => Buffer.from("PK\u0003\u0004".repeat(400)), "not a whole export"],
  ["an empty file", () => Buffer.alloc(0), "there is no towpath.json"],
])("OPS-8 %s is refused", async (_what, change, problem) => {
  expect(await unpack(change(await written()))).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("OPS-8 a file that ends anywhere is refused", async () => {
  const tar = await tarOf([
    { name: "weather-one/", type: "directory" },
    { name: "weather-one/towpath.json", text: "{}" },
    { name: "weather-one/data", text: "x".repeat(2000) },
  ]);
  // In and between headers, content and padding.
  for (let length = 0; length < tar.length; length += 256) {
    await mkdir(target, { recursive: true });
    expect(await unpack(tar.subarray(0, length)), `of ${length} bytes`).toMatchObject({ ok: false });
    await rm(target, { recursive: true });
  }
});

const document = { name: "weather-one/towpath.json", text: JSON.stringify(sampleDocument) };
test.each<[string, SampleEntry[], string]>([
  ["a path that leaves its directory", [document, { name: "weather-one/../../outside.py", text: "x" }], "leads out"],
  ["an absolute path", [document, { name: "/outside.py", text: "x" }], "leads out"],
  ["a path with a backslash", [document, { name: "weather-one\\..\\..\\outside.py", text: "x" }], "leads out"],
  [
    "a link that leads out",
    [document, { name: "weather-one/a", type: "symlink", linkname: "../../outside" }],
    "is a link",
  ],
  [
    "a link that comes back",
    [document, { name: "weather-one/a", type: "symlink", linkname: "../root/a" }],
    "is a link",
  ],
  ["a link to an absolute path", [document, { name: "weather-one/a", type: "symlink", linkname: "/etc" }], "is a link"],
  [
    "links that lead out together",
    [
      document,
      { name: "weather-one/b/c/file", text: "x" },
      { name: "weather-one/a", type: "symlink", linkname: "b/c" },
      { name: "weather-one/b/d", type: "symlink", linkname: "../a/../../.." },
    ],
    "is a link",
  ],
  [
    "a file through a link",
    [document, { name: "weather-one/a", type: "symlink", linkname: "b" }, { name: "weather-one/a/file", text: "x" }],
    "twice",
  ],
  ["a hard link", [document, { name: "weather-one/a", type: "link", linkname: "/etc/passwd" }], "neither a file"],
  ["a device", [document, { name: "weather-one/a", type: "character-device" }], "neither a file"],
  ["a name that it has twice", [document, document], "twice"],
  ["a name that is too long", [document, { name: `weather-one/${"a".repeat(300)}`, text: "x" }], "is too long"],
  ["a path that is too long", [document, { name: `weather-one/${"d/".repeat(3000)}f`, text: "x" }], "is too long"],
  ["two directories at its top", [document, { name: "other/file", text: "x" }], "more than one directory"],
  ["a control character", [document, { name: "weather-one/a\u001bb", text: "x" }], "control character"],
])("OPS-8 %s is refused, and nothing is written outside", async (_what, entries, problem) => {
  expect(await unpack(await tarOf(entries))).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  expect(await readdir(directory)).toEqual(["export"]);
});

test("OPS-8 an export that lacks the history that it names is refused", async () => {
  const source = { ...sampleDocument.source, hasHistory: true };
  expect(await unpack(await written({ document: { ...sampleDocument, source } }))).toMatchObject({
    problem: expect.stringContaining("doesn't name repository.bundle"),
  });
});

test("OPS-8 an export that is too large is refused", async () => {
  const tar = await written();
  expect(await unpack(tar, { bytes: 1000, entries: 100 })).toMatchObject({
    problem: expect.stringContaining("larger"),
  });
  await rm(target, { recursive: true });
  await mkdir(target);
  expect(await unpack(tar, { bytes: 10 ** 9, entries: 5 })).toMatchObject({
    problem: expect.stringContaining("more than 5 files"),
  });
});

test.each<[string, () => Promise<unknown>, string]>([
  [
    "a newer format",
    () => change("towpath.json", { ...sampleDocument, format: 2 }),
    "newer release (format 2; this one reads 1)",
  ],
  [
    "a damaged document",
    () => change("towpath.json", { ...sampleDocument, name: "../x" }),
    "towpath.json is damaged (name",
  ],
  ["changed code", () => writeFile(join(target, "source/server.py"), "evil"), "is not as it was exported"],
  ["a missing file", () => rm(join(target, "source/server.py")), '"source/server.py" is missing'],
  ["a link in place of a file", () => replaceByLink("source/server.py"), "is a link"],
  [
    "digests of other places",
    () => writeFile(join(target, "SHA256SUMS"), `${"a".repeat(64)}  ../../etc/passwd\n`),
    "leads out",
  ],
  ["digests of nothing", () => writeFile(join(target, "SHA256SUMS"), ""), "doesn't name towpath.json"],
  ["damaged digests", () => writeFile(join(target, "SHA256SUMS"), "x\n"), "SHA256SUMS is damaged"],
])("OPS-8 a directory with %s is refused", async (_what, spoil, problem) => {
  await exported();
  await spoil();
  expect(await checkExport(target)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

const change = (path: string, value: unknown) => writeFile(join(target, path), JSON.stringify(value));
async function replaceByLink(path: string): Promise<void> {
  await rm(join(target, path));
  await symlink("/etc/hostname", join(target, path));
}
