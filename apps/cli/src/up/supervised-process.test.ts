import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SupervisedProcess } from "./supervised-process.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp("/tmp/tw-");
  // It tells people of restarts on stderr.
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const limits = {
  readyWithinMs: 20_000,
  largestLogBytes: 2_000,
  firstPauseMs: 20,
  longestPauseMs: 40,
  healthyAfterMs: 60_000,
};

async function supervise(code: string, change: Partial<typeof limits> = {}): Promise<SupervisedProcess> {
  await writeFile(`${folder}/role.mjs`, code);
  const env = { PATH: process.env.PATH ?? "", FOLDER: folder };
  return new SupervisedProcess({ name: "worker", entry: `${folder}/role.mjs`, env }, folder, { ...limits, ...change });
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("OPS-1 a process that does not get ready is ended, so that a next try is not a second one beside it", async () => {
  const role = await supervise(
    `import { writeFileSync } from "node:fs";
     writeFileSync(process.env.FOLDER + "/pid", String(process.pid));
     process.on("SIGTERM", () => {});
     setInterval(() => {}, 1000);`,
    { readyWithinMs: 1_500 },
  );
  await expect(role.start()).rejects.toThrow("was not ready within 1.5 s");
  expect(isRunning(Number(await readFile(`${folder}/pid`, "utf8")))).toBe(false);
  await role.stop(100);
});

test("OPS-1 logs of a process that runs for long stay bounded, and one earlier file is kept", async () => {
  const role = await supervise(
    `console.log('{"msg":"ready"}');
     for (let at = 0; at < 400; at++) console.log("line " + at + " " + "x".repeat(40));
     console.log("last");
     setInterval(() => {}, 1000);`,
  );
  await role.start();
  await expect.poll(() => readFile(`${folder}/worker.log`, "utf8")).toMatch(/last\n$/);
  expect((await stat(`${folder}/worker.log`)).size).toBeLessThan(2_200);
  expect((await stat(`${folder}/worker.log.1`)).size).toBeLessThan(2_200);
  await role.stop(1000);
});

test("OPS-1 a process that ends unasked starts again", async () => {
  const role = await supervise(
    `import { appendFileSync } from "node:fs";
     appendFileSync(process.env.FOLDER + "/starts", ".");
     console.log('{"msg":"ready"}');
     setTimeout(() => process.exit(3), 50);`,
  );
  await role.start();
  await expect.poll(() => readFile(`${folder}/starts`, "utf8"), { timeout: 10_000 }).toMatch(/^\.{3}/);
  await role.stop(1000);
});
