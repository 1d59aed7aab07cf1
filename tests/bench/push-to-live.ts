// From a `git push` to the new version's answer at the gateway: code alone, a new dependency set whose packages are in
// uv's cache, and one with an empty cache, in turns; with the time of each phase, the CPU time of all processes, and
// the load of other processes. Then from `towpath deploy` of a new server. Arguments: pushes of code (default 20), new
// dependency sets (default 5), with an empty cache (default 3).
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { databaseUrlOf } from "../instance/processes.ts";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { serverSource, writeServer } from "./echo-server.ts";
import { loadText, openLoadMeter } from "./load.ts";
import { printTable, timed } from "./measure.ts";
import { cloneServer, type Push, printPushes } from "./pushed-server.ts";

const [codePushes = 20, sets = 5, coldSets = 3] = process.argv.slice(2).map(Number);
/** Not required by FastMCP, so that each makes another set. */
const more = [
  "six",
  "tabulate",
  "toml",
  "pyfiglet",
  "colorama",
  "docopt",
  "xmltodict",
  "texttable",
  "bottle",
  "chevron",
];
const framework = "fastmcp==4.1.2";

const meter = openLoadMeter();
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts());
const { pool } = openDatabase(databaseUrlOf(dataDirectory));

async function deploy(name: string, requirements: string): Promise<number> {
  const directory = await writeServer(name, requirements);
  return timed(async () => {
    const args = ["deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory];
    const { status, stdout, stderr } = await towpath(...args);
    if (status !== 0) throw new Error(stdout + stderr);
  });
}

const before = loadText();
try {
  await deploy("bench-server", `${[framework, ...more].join("\n")}\n`);
  const server = await cloneServer("bench-server", { instance, pool, meter });
  const code: Push[] = [];
  const warm: Push[] = [];
  const cold: Push[] = [];
  let word = 0;
  const push = (requirements: readonly string[]) => {
    word += 1;
    const files = { "server.py": serverSource(`word-${word}`), "requirements.txt": `${requirements.join("\n")}\n` };
    return server.push(`word-${word}`, files);
  };
  const rounds = Math.max(sets, coldSets);
  for (let round = 0; round < rounds; round++) {
    let set = [framework, ...more.slice(0, round)];
    if (round < coldSets) {
      await rm(join(dataDirectory, "cache", "uv"), { recursive: true });
      set = [...set, "more-itertools"];
      cold.push(await push(set));
    }
    if (round < sets) {
      // Fills the cache for the next set.
      await push([framework, ...more, "more-itertools", "sortedcontainers"]);
      set = [framework, ...more.slice(0, round), "sortedcontainers"];
      warm.push(await push(set));
    }
    while (code.length < (codePushes * (round + 1)) / rounds) code.push(await push(set));
  }
  process.stdout.write(`\nPush to live (${before} at first, ${loadText()} at last)\n`);
  printPushes([
    { what: "code only (≤ 2000)", pushes: code },
    { what: "new dependency set, warm cache (≤ 5000)", pushes: warm },
    { what: "new dependency set, empty cache (≤ 30000)", pushes: cold },
  ]);
  printTable("`towpath deploy` of a new server", [
    { what: "dependency layer reused", values: [await deploy("bench-again", `${[framework, ...more].join("\n")}\n`)] },
  ]);
} finally {
  await pool.end();
  await instance.stop();
  meter.close();
  await rm(dataDirectory, { recursive: true });
}
