import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { hasEnded, processName } from "./process-name.ts";

test("RUN-8 a process that was killed on this host is known to have ended, one that runs or ran elsewhere isn't", async () => {
  const own = await processName();
  expect(await hasEnded(own)).toBe(false);
  const module = new URL("./process-name.ts", import.meta.url).href;
  const code = `process.stdout.write(await (await import("${module}")).processName()); setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await once(other.stdout, "data");
  const name = String(printed);
  expect(name).not.toBe(own);
  expect(await hasEnded(name)).toBe(false);
  const exited = once(other, "exit");
  other.kill("SIGKILL");
  await exited;
  expect(await hasEnded(name)).toBe(true);
  // Another boot, or another container: the process id says nothing.
  expect(await hasEnded(`x${name}`)).toBe(false);
  expect(await hasEnded("")).toBe(false);
});
