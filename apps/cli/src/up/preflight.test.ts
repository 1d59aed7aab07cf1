import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test } from "vitest";
import { parseUpOptions } from "./options.ts";
import { bindPorts, isolationNotice } from "./preflight.ts";

test("RUN-1 `up` says what this machine refuses and each exception that is set", async () => {
  const directory = await shortDirectory();
  const socketPath = join(directory, "runner.sock");
  let body = {};
  const runner = createServer((request, response) => response.end(JSON.stringify({ path: request.url, ...body })));
  await new Promise<void>((resolve) => runner.listen(socketPath, resolve));
  try {
    const exceptions = [{ setting: "TOWPATH_ALLOW_WEAK_LIMITS=yes", meaning: "No limit on a server as a whole." }];
    body = { driver: "sandbox", trusted: true, checks: [], problems: ["No network: do this."], exceptions };
    expect(await isolationNotice(socketPath)).toEqual([
      "No network: do this.",
      "TOWPATH_ALLOW_WEAK_LIMITS=yes: No limit on a server as a whole.",
    ]);
    body = { driver: "sandbox", trusted: true, checks: [], problems: [], exceptions: [] };
    expect(await isolationNotice(socketPath)).toEqual([]);
    body = { status: "ok" };
    expect(await isolationNotice(socketPath)).toHaveLength(1);
  } finally {
    runner.close();
    await rm(directory, { recursive: true, force: true });
  }
  expect(await isolationNotice(socketPath)).toEqual([expect.stringContaining("did not report")]);
});

test.each([
  ["--port", "6000"],
  ["--gateway-port", "10080"],
])("OPS-1 a port that browsers refuse is not accepted: %s %s", async (option, port) => {
  const others = { "--port": "23917", "--gateway-port": "23918", [option]: port };
  const options = parseUpOptions(Object.entries(others).flat(), {});
  await expect(bindPorts(options)).rejects.toThrow(
    `Browsers refuse to connect to port ${port}. Choose another: ./towpath up ${option} `,
  );
  const sockets = await bindPorts(parseUpOptions(Object.entries({ ...others, [option]: "23920" }).flat(), {}));
  for (const socket of Object.values(sockets)) socket.close();
});
