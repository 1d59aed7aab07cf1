import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endFormerProcesses, formerProcesses } from "./former-processes.ts";

let directory = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  directory = await shortDirectory();
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** A program of a checkout, by its path. */
async function program(path: string, code: string): Promise<string> {
  const file = `${directory}/${path}`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, code);
  return file;
}

/** Runs a program of Node. Resolves to what it prints first. */
async function run(file: string, env: Readonly<Record<string, string>>): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [printed] = await once(child.stdout, "data");
  return [child, String(printed)];
}

test("OPS-1 what a killed launcher left is ended before the next start, and nothing of a launcher or supervisor that runs", async () => {
  const place = { dataDirectory: `${directory}/data`, runDirectory: `${directory}/data/run` };
  const env = { TOWPATH_DATA_DIR: place.dataDirectory };
  // It has begun to stop, and hangs.
  const role = await program("apps/gateway/src/main.ts", "process.on('SIGTERM', () => {}); console.log('up');");
  await writeFile(role, "setInterval(() => {}, 1000);", { flag: "a" });
  const launcherCode = `
    const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, [${JSON.stringify(role)}], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    child.stdout.once("data", () => console.log(child.pid));`;
  const [launcher, printed] = await run(await program("apps/cli/src/main.ts", launcherCode), env);
  const [supervised] = await run(role, env);
  expect(await formerProcesses(place)).toEqual([]);

  launcher.kill("SIGKILL");
  await once(launcher, "exit");
  expect(await formerProcesses({ ...place, dataDirectory: `${directory}/other` })).toEqual([]);
  expect(await formerProcesses(place)).toEqual([Number(printed)]);
  await endFormerProcesses(place, 300);
  expect(await formerProcesses(place)).toEqual([]);
  expect(supervised.exitCode ?? supervised.signalCode).toBeNull();
  expect(vi.mocked(process.stdout.write).mock.calls.join("")).toContain("ending what it left (1 process)");
});
