// The first call of a server that is stopped, frozen or warm, beside the same server started bare with Python.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { bareEnvironment, dependencyLayers, startBare } from "./bare-python.ts";
import { postOnce, writeServer } from "./echo-server.ts";
import { median, printTable, timed } from "./measure.ts";

const rounds = 7;
const freezeAfterMs = 300;
const stopAfterMs = 3_000;
const leaseMs = 500;
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts(), {
  TOWPATH_FREEZE_AFTER_MS: String(freezeAfterMs),
  TOWPATH_STOP_AFTER_MS: String(stopAfterMs),
  TOWPATH_LEASE_MS: String(leaseMs),
});

try {
  const directory = await writeServer("bench", "fastmcp==4.1.2\n");
  const deployed = await towpath(
    "deploy",
    directory,
    "--name",
    "bench-first-call",
    "--public",
    "--data-dir",
    dataDirectory,
  );
  if (deployed.status !== 0) throw new Error(deployed.stdout + deployed.stderr);
  const url = `${instance.serversUrl}/bench-first-call/mcp`;
  const [layer = ""] = await dependencyLayers(dataDirectory);
  const bare: number[] = [];
  const stopped: number[] = [];
  const frozen: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const python = await bareEnvironment(layer, join(dataDirectory, "bare"));
    bare.push(await startBare(python, join(directory, "server.py"), postOnce));
    await sleep(leaseMs + freezeAfterMs + stopAfterMs + 1_500);
    stopped.push(await timed(() => postOnce(url)));
    for (let call = 0; call < 20; call++) warm.push(await timed(() => postOnce(url)));
    await sleep(leaseMs + freezeAfterMs + 800);
    frozen.push(await timed(() => postOnce(url)));
  }
  printTable("First call", [
    { what: "bare python, spawn to first answer", values: bare },
    { what: "stopped", values: stopped, target: `≤ 1.15 × bare (is ${(median(stopped) / median(bare)).toFixed(2)} ×)` },
    { what: "frozen", values: frozen, target: `wake ≤ 5 (is ${(median(frozen) - median(warm)).toFixed(1)} over warm)` },
    { what: "warm", values: warm },
  ]);
} finally {
  await instance.stop();
  await rm(dataDirectory, { recursive: true });
}
