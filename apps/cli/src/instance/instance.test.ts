import { readFile, rm, writeFile } from "node:fs/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRunning, openDataDirectory, startTimeOf } from "./instance.ts";

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
