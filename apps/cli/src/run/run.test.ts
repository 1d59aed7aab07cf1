import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("OPS-10 `run` doesn't lose a supervisor's socket silently: it names the command that takes it", async () => {
  const args = [join(import.meta.dirname, "../main.ts"), "run", "gateway"];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, LISTEN_FDS: "1" };
  await expect(promisify(execFile)(process.execPath, args, { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/can't hand it on\. Start the process by: \S+ .*apps\/gateway\/src\/main\.ts\n/),
  });
});
