// `./towpath test chaos`: breaks a real instance in every way that issue reports knew of, under load.
// TOWPATH_CHAOS_TIMES: how often each kill is made, 20 by default. TOWPATH_CHAOS: only these scenarios.
import { startRig } from "./rig.ts";
import { type Row, tableOf } from "./row.ts";
import { scenarios } from "./scenarios/index.ts";

const say = (text: string) => process.stdout.write(`${text}\n`);

const wanted = (process.env.TOWPATH_CHAOS ?? "").split(",").filter((name) => name !== "");
const unknown = wanted.filter((name) => !Object.hasOwn(scenarios, name));
if (unknown.length > 0) {
  say(`There is no scenario ${unknown.join(", ")}. Scenarios: ${Object.keys(scenarios).join(", ")}.`);
  process.exit(2);
}
const times = Number(process.env.TOWPATH_CHAOS_TIMES ?? 20);
const chosen = Object.entries(scenarios).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const rows: Row[] = [];
const rig = await startRig(times);
// A mount and an instance must not be left behind.
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
