import { cp, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { thisRelease } from "@towpath/db/release";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  findRunning,
  markRunning,
  openDataDirectory,
  requireNoCopyOfRunning,
  startTimeOf,
  writePrivate,
} from "./instance.ts";

let directory = "";
beforeEach(async () => {
  directory = await shortDirectory();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const running = (pid: number, startTime: string | null) =>
  writeFile(
    `${directory}/running.json`,
    JSON.stringify({ pid, startTime, url: "http://localhost:3000", serverUrl: "http://localhost:8080/{name}" }),
  );

test("OPS-1 a mark that a killed instance left does not count when its process id has been given to another", async () => {
  expect(findRunning(directory)).toBeNull();
  await running(process.pid, startTimeOf(process.pid));
  expect(findRunning(directory)?.pid).toBe(process.pid);
  await running(process.pid, "1");
  expect(findRunning(directory)).toBeNull();
  await running(2 ** 30, "1");
  expect(findRunning(directory)).toBeNull();
});

test("OPS-1 a first start that was killed before the identity was written can be repeated; other directories are refused", async () => {
  await writeFile(`${directory}/operator-token`, "tpo_of-the-killed-one\n");
  const identity = await openDataDirectory(directory);
  expect(await openDataDirectory(directory)).toEqual(identity);
  expect(await readFile(`${directory}/operator-token`, "utf8")).toMatch(/^tpo_[\w-]{43}\n$/);
  await rm(`${directory}/instance.json`);
  await writeFile(`${directory}/letters.txt`, "");
  await expect(openDataDirectory(directory)).rejects.toThrow("is not empty");
});

test("OPS-3 without instance.json a directory that has data is never to be emptied, and nothing in it changes", async () => {
  await openDataDirectory(directory);
  await mkdir(`${directory}/postgres`);
  await rm(`${directory}/instance.json`);
  const refusal = await openDataDirectory(directory).catch((error: unknown) => String(error));
  expect(refusal).toContain("Restore it from a back-up");
  expect(refusal).toContain("or start afresh with another --data-dir");
  expect(refusal).not.toMatch(/empty it/);
  await expect(readFile(`${directory}/instance.json`)).rejects.toThrow("ENOENT");
});

test("OPS-3 a data directory of another layout is refused with the names of both releases", async () => {
  const identity = { ...(await openDataDirectory(directory)), dataVersion: 2, release: "9.9.0 (commit f00)" };
  await writeFile(`${directory}/instance.json`, JSON.stringify(identity));
  await expect(openDataDirectory(directory)).rejects.toThrow(
    `has version 2 and was last used by 9.9.0 (commit f00); this is ${thisRelease()}, which works with version 1.`,
  );
});

test("OPS-3 a missing operator token is made again, which is printed; the identity stays", async () => {
  const identity = await openDataDirectory(directory);
  const first = await readFile(`${directory}/operator-token`, "utf8");
  const tokenFile = `${directory}/operator-token`;
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  for (const lose of [() => rm(tokenFile), () => writeFile(tokenFile, "")]) {
    await lose();
    written.mockClear();
    expect(await openDataDirectory(directory)).toEqual(identity);
    const printed = written.mock.calls.map(([text]) => String(text)).join("");
    expect(printed).toBe(`! operator-token was missing, so a new one was made: ${tokenFile}\n`);
    const second = await readFile(tokenFile, "utf8");
    expect(second).toMatch(/^tpo_[\w-]{43}\n$/);
    expect(second).not.toBe(first);
  }
  written.mockRestore();
});

test("OPS-3 the instance's secrets are on disk before they have their names, and their names before the start continues", async () => {
  const file = await open(`${directory}/any`, "w");
  const flushes: string[] = [];
  const { sync } = file;
  vi.spyOn(Object.getPrototypeOf(file), "sync").mockImplementation(async function (this: typeof file) {
    const what = (await this.stat()).isDirectory() ? "directory" : "file";
    flushes.push(`${what} ${(await readdir(directory)).includes("secret") ? "after" : "before"}`);
    await sync.call(this);
  });
  await file.close();
  await writePrivate(`${directory}/secret`, "s");
  vi.restoreAllMocks();
  expect(flushes).toEqual(["file before", "directory after"]);
});

test("OPS-3 a copy that was taken while an instance ran says so, also when it is restored; a directory that was moved is no copy", async () => {
  const addresses = { url: "http://localhost:3000", serverUrl: "http://localhost:8080/{name}" };
  const running = { ...addresses, databaseUrl: null, controlSocket: null };
  const [original, copy, moved] = ["original", "copy", "moved"].map((name) => `${directory}/${name}`) as [
    string,
    string,
    string,
  ];
  await mkdir(original);
  await markRunning(original, running);
  expect(findRunning(original)?.pid).toBe(process.pid);
  await cp(original, copy, { recursive: true });
  expect(findRunning(copy)).toBeNull();
  expect(() => requireNoCopyOfRunning(copy)).toThrow(`is a copy of ${original} that was taken while Towpath ran there`);
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await rename(original, moved);
  for (const fine of [moved, directory]) expect(() => requireNoCopyOfRunning(fine)).not.toThrow();
  expect(written).not.toHaveBeenCalled();
  await rename(copy, original);
  requireNoCopyOfRunning(original);
  const printed = written.mock.calls.map(([text]) => String(text)).join("");
  written.mockRestore();
  expect(printed).toMatch(/^! .*\/original was restored from a copy that was taken while Towpath ran there[^\n]*\n$/);
});
