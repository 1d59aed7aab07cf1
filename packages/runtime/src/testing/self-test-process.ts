// Prints the self-test of a new driver as JSON, and what a server and a command with network did; for tests that run it
// as another user. Arguments: state directory, Python code of the command, an address range that it may reach.
import { mkdtemp, writeFile } from "node:fs/promises";
import { homeEnvironment, serverHome } from "../harness-command.ts";
import { strictIsolation } from "../host/config.ts";
import { createSandboxEngine } from "../host/sandbox/engine.ts";
import { testLimits, tinyServer } from "./tiny-server.ts";

const [stateDirectory = "", code = "pass", range] = process.argv.slice(2);
const driver = createSandboxEngine({
  stateDirectory,
  ...strictIsolation,
  allowWeakLimits: true,
  allowedRanges: range === undefined ? [] : [range],
});
const isolation = await driver.selfTest();
const layer = await mkdtemp(`${stateDirectory}/layer-`);
await writeFile(`${layer}/server.py`, "print()\n");
const launch = tinyServer.launch("serve", `${stateDirectory}/i`);
const sandbox = {
  ...launch.sandbox,
  argv: [...launch.sandbox.argv, "--layer=/app/layer"] as const,
  env: { ...launch.sandbox.env, ...homeEnvironment, HOME: serverHome },
  workingDirectory: "/app/src",
  mounts: [
    ...launch.sandbox.mounts,
    { host: layer, inside: "/app/layer", writable: false },
    { host: layer, inside: "/app/.venv", writable: false },
  ],
  scratch: ["/app/src"],
};
const start = await driver.start({ ...launch, sandbox }, () => {});
let served: string | null = null;
let changed: string | null = null;
let frozen: boolean | null = null;
if (start.ok) {
  served = await tinyServer.get(start.handle.endpoint);
  frozen = await start.handle.freeze();
  await start.handle.wake();
  served = await tinyServer.get(start.handle.endpoint);
  changed = await tinyServer.get(start.handle.endpoint, "/change-code");
  await start.handle.stop(1000);
}
const lines: string[] = [];
const argv: [string, ...string[]] = ["/usr/bin/python3", "-c", code];
const command = { argv, env: {}, workingDirectory: "/tmp", mounts: [], limits: testLimits } as const;
const options = { timeoutMs: 20_000, outputBytes: 10_000, onOutput: (_: unknown, line: string) => lines.push(line) };
await driver.run({ ...command, network: "internet" }, options).catch((error: Error) => lines.push(error.message));
await driver.close();
console.log(JSON.stringify({ uid: process.getuid?.(), isolation, served, frozen, changed, lines }));
