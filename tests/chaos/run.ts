// `./towpath test chaos`: kills, starves and floods a real instance under load.
// TOWPATH_CHAOS_TIMES: number of kills of each kind, by default 20 (50 seeded ones, 100 redeploys). TOWPATH_CHAOS: only
// these scenarios. TOWPATH_CHAOS_SEED: the seed of the seeded kills.
import { type Rig, startRig } from "./rig.ts";
import { type Row, tableOf } from "./row.ts";
import { clockJumps } from "./scenarios/clock-jumps.ts";
import { databaseHung } from "./scenarios/database-hung.ts";
import { diskFull } from "./scenarios/disk-full.ts";
import { hostileTenant } from "./scenarios/hostile-tenant.ts";
import { independence } from "./scenarios/independence.ts";
import { keptCalls } from "./scenarios/kept-calls.ts";
import { killProcess } from "./scenarios/kill-process.ts";
import { manyServers } from "./scenarios/many-servers.ts";
import { redeployUnderLoad } from "./scenarios/redeploys.ts";
import { seededKills } from "./scenarios/seeded-kills.ts";

const { TOWPATH_CHAOS_TIMES: givenTimes, TOWPATH_CHAOS_SEED: givenSeed } = process.env;
const seed = Number(givenSeed ?? 7);
const outageMs = 60_000;

/** Ordered by how much they break. */
const scenarios: Readonly<Record<string, (rig: Rig) => Promise<Row>>> = {
  "kill-web": (rig) => killProcess(rig, "web"),
  "kill-worker": (rig) => killProcess(rig, "worker"),
  "kill-postgres": (rig) => killProcess(rig, "postgres"),
  "kill-gateway": (rig) => killProcess(rig, "gateway"),
  "kill-runner": (rig) => killProcess(rig, "runner"),
  "kill-shim": (rig) => killProcess(rig, "shim"),
  "kept-calls": keptCalls,
  "database-hung": databaseHung,
  "disk-full": diskFull,
  "clock-jumps": clockJumps,
  "seeded-kills": (rig) => seededKills({ ...rig, times: Number(givenTimes ?? 50) }, seed),
  "all-stopped": (rig) => independence(rig, { how: "stopped", forMs: outageMs }),
  "all-hung": (rig) => independence(rig, { how: "hung", forMs: outageMs }),
  "all-stopped-gateway-killed": (rig) => independence(rig, { how: "stopped", forMs: outageMs / 4, killsGateway: true }),
  redeploys: (rig) => redeployUnderLoad(rig, Number(givenTimes ?? 100)),
  "many-servers": manyServers,
  "hostile-tenant": hostileTenant,
};

const say = (text: string) => process.stdout.write(`${text}\n`);

const requested = (process.env.TOWPATH_CHAOS ?? "").split(",").filter((name) => name !== "");
const unknown = requested.filter((name) => !Object.hasOwn(scenarios, name));
if (unknown.length > 0) {
  say(`There is no scenario ${unknown.join(", ")}. Scenarios: ${Object.keys(scenarios).join(", ")}.`);
  process.exit(2);
}
const times = Number(givenTimes ?? 20);
const chosen = Object.entries(scenarios).filter(([name]) => requested.length === 0 || requested.includes(name));
const rows: Row[] = [];
const rig = await startRig(times);
// Leave neither a mount nor an instance behind.
process.once("SIGINT", () => void rig.stop().finally(() => process.exit(130)));
try {
  for (const [name, scenario] of chosen) {
    say(`· ${name}`);
    const row = await scenario(rig).catch(
      (error: unknown): Row => ({
        scenario: name,
        times: 0,
        calls: 0,
        failed: 0,
        lost: 0,
        recoveryMs: [],
        problems: [error instanceof Error ? error.message : String(error)],
      }),
    );
    rows.push(row);
    say(tableOf([row]));
  }
} finally {
  await rig.stop();
}
say(`\n${tableOf(rows)}`);
process.exit(rows.some(({ problems }) => problems.length > 0) ? 1 : 0);
