// Stands in for a runner that tests kill. Arguments: state directory, generation, milliseconds that the shim waits for
// a runner, and without a launcher, and the kernel of servers. Adopts existing servers, then executes lines of stdin: VERB INSTANCE [ARGUMENT]. Prints what happens.
import { createInterface } from "node:readline";
import { strictIsolation } from "../host/config.ts";
import { createSandboxEngine } from "../host/sandbox/engine.ts";
import { forkSocketName, runtimeDirectory, statusName } from "../host/server/server-spec.ts";
import type { OutputSink } from "../port/execution.ts";
import type { InstanceHandle } from "../port/servers.ts";
import { tinyServer } from "./tiny-server.ts";

const [stateDirectory = "", generation = "1", waitMs = "30000", orphanedMs = "0", kernel = "host"] =
  process.argv.slice(2);
const print = (...parts: readonly (string | number | null)[]) => process.stdout.write(`${parts.join(" ")}\n`);
const driver = createSandboxEngine({
  stateDirectory,
  ...strictIsolation,
  kernel: kernel === "gvisor" ? "gvisor" : "host",
  allowWeakLimits: true,
  floodLimits: { linesPerSecond: 10_000, bytesPerSecond: 1_000_000, burstSeconds: 1 },
  shim: {
    generation: Number(generation),
    waitMs: Number(waitMs),
    orphanedMs: Number(orphanedMs),
    onSuperseded() {
      print("superseded");
      process.exit(1);
    },
  },
});
const handles = new Map<string, InstanceHandle>();
const outputOf =
  (instanceId: string): OutputSink =>
  (_, line) =>
    print("line", instanceId, line);

function know(handle: InstanceHandle): void {
  handles.set(handle.instanceId, handle);
  void handle.exited.then(({ reason, code }) => print("exit", handle.instanceId, reason, code));
}

/** A server that is forked from an interpreter, which all of them share. */
async function fork(instanceId: string): Promise<void> {
  const { sandbox, startTimeoutMs } = tinyServer.launch("serve", "");
  const [python, program = "", ...later] = sandbox.argv;
  const waiting = {
    ...sandbox,
    argv: [python, program, `--prewarm-status=${runtimeDirectory}/${statusName}`] as const,
  };
  const outcome = await driver.prewarm?.({
    sandbox: waiting,
    socketDirectory: `${stateDirectory}/i/${instanceId}`,
    startTimeoutMs,
    parent: {
      kind: "tiny",
      required: false,
      python,
      make: async () => ({
        sandbox: {
          ...waiting,
          argv: [...waiting.argv, `${runtimeDirectory}/${forkSocketName}`],
          forks: { python: [python] },
        },
        socketDirectory: `${stateDirectory}/i/parent`,
      }),
      remove: async () => {},
    },
  });
  if (outcome?.ok !== true) throw new Error(`${instanceId} was not forked`);
  const { limits, env } = sandbox;
  const server = { instanceId, limits, env, arguments: later, startTimeoutMs, memo: `memo of ${instanceId}` };
  const result = await outcome.interpreter.claim({ ...server, placeCode: async () => true }, outputOf(instanceId));
  if (!("ok" in result) || !result.ok) throw new Error(`${instanceId} did not start`);
  know(result.handle);
}

async function obey(verb: string, id: string, argument: string): Promise<void> {
  const handle = handles.get(id);
  if (verb === "start") {
    const network = argument === "internet" ? "internet" : "none";
    const spec = { ...tinyServer.launch("serve", `${stateDirectory}/i/${id}`, { network }), instanceId: id };
    const result = await driver.start({ ...spec, memo: `memo of ${id}` }, outputOf(id));
    if (!result.ok) throw new Error(`${id} did not start: ${result.cause}`);
    know(result.handle);
  }
  if (verb === "fork") await fork(id);
  if (verb === "freeze") await handle?.freeze();
  if (verb === "wake") await handle?.wake();
  if (verb === "stop") await handle?.stop(2000);
  if (verb === "memory") print("memory", id, (await handle?.memoryBytes()) ?? null);
  if (verb === "close") {
    await driver.close();
    process.exit(0);
  }
  print("done", verb, id);
}

try {
  const adopted = await driver.adopt(async ({ instanceId, memo }) => {
    print("claim", instanceId, memo);
    return instanceId.startsWith("unwanted") ? null : { onOutput: outputOf(instanceId), last: {} };
  });
  for (const { handle, isFrozen } of adopted) {
    know(handle);
    print(
      "adopted",
      handle.instanceId,
      isFrozen ? "frozen" : "running",
      handle.endpoint.kind === "unix" ? handle.endpoint.path : "",
    );
  }
  print("ready");
} catch (error) {
  print("failed", error instanceof Error ? error.message : String(error));
  process.exit(1);
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb = "", id = "", argument = ""] = line.split(" ");
  obey(verb, id, argument).catch((error: unknown) => print("failed", verb, id, String(error)));
});
