import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { openDatabase } from "@towpath/db";
import { z } from "zod";
import { pushUrlOf } from "../instance/operator.ts";
import type { TowpathInstance } from "../instance/towpath-process.ts";
import { callWord } from "./echo-server.ts";
import type { LoadMeter } from "./load.ts";

const run = promisify(execFile);
type Pool = ReturnType<typeof openDatabase>["pool"];

/** Parts of the time from push to live, in order, milliseconds; `cpu` in processor milliseconds. */
const parts = ["total", "queue", "fetch", "plan", "install", "inspect", "rollout", "answer"] as const;
type Part = (typeof parts)[number];
export type Push = Readonly<Record<Part | "cpu" | "others", number>>;

const rowSchema = z.object({
  started: z.number(),
  ended: z.number(),
  timings: z.record(z.string(), z.number()).nullable(),
});

export type PushedServer = {
  readonly name: string;
  readonly directory: string;
  /** Writes files, commits and pushes them, and waits until the server answers with `word`. */
  push(word: string, files: Readonly<Record<string, string>>): Promise<Push>;
};

/** A clone of a deployed server's repository, whose pushes are measured. */
export async function cloneServer(
  name: string,
  { instance, pool, meter }: { readonly instance: TowpathInstance; readonly pool: Pool; readonly meter: LoadMeter },
): Promise<PushedServer> {
  const directory = join(await mkdtemp(join(tmpdir(), "towpath-bench-clone-")), "clone");
  await run("git", ["clone", "--quiet", await pushUrlOf(instance, name), directory]);
  const git = (...args: string[]) =>
    run("git", ["-C", directory, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args]);
  const url = `${instance.serversUrl}/${name}/mcp`;
  return {
    name,
    directory,
    async push(word, files) {
      for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text);
      await git("add", "--all");
      await git("commit", "--quiet", "--message", word);
      const { stdout } = await git("rev-parse", "HEAD");
      const load = meter.read();
      const begun = Date.now();
      await git("push", "--quiet", "origin", "HEAD");
      const answered = await answers(url, word, () => statusOf(pool, stdout.trim()));
      const after = meter.read();
      const own = after.ownSeconds - load.ownSeconds;
      const all = after.allSeconds - load.allSeconds;
      const seconds = (answered - begun) / 1000;
      const { started, ended, timings } = await rowOf(pool, stdout.trim());
      const phase = (of: Part) => timings?.[of] ?? 0;
      return {
        total: answered - begun,
        // git's own time, the webhook, and the jobs before the build.
        queue: started - begun,
        fetch: phase("fetch"),
        plan: phase("plan"),
        install: phase("install"),
        inspect: phase("inspect"),
        rollout: phase("rollout"),
        answer: answered - ended,
        cpu: own * 1000,
        others: (all - own) / seconds,
      };
    },
  };
}

/**
 * Resolves to the time of the first answer with `word`. Until the build has ended, it polls only the database, which is
 * cheap; then it makes a new client's handshake and call each time.
 */
async function answers(url: string, word: string, status: () => Promise<string | null>): Promise<number> {
  const deadline = Date.now() + 300_000;
  for (let ended = false; ; ) {
    const state: string | null = ended ? null : await status();
    if (state === "failed") throw new Error(`The build of ${word} failed.`);
    ended ||= state === "succeeded";
    if (ended && (await callWord(url).catch(() => "")) === word) return Date.now();
    if (Date.now() > deadline) throw new Error(`${word} is not live after 300 s`);
    await sleep(20);
  }
}

async function rowOf(pool: Pool, commit: string) {
  const { rows } = await pool.query(
    `SELECT timings, extract(epoch FROM started_at)::float8 * 1000 AS started,
            coalesce(extract(epoch FROM ended_at)::float8 * 1000, 0) AS ended
     FROM build WHERE commit_sha = $1`,
    [commit],
  );
  return rowSchema.parse(rows[0]);
}

async function statusOf(pool: Pool, commit: string): Promise<string | null> {
  const { rows } = await pool.query("SELECT status FROM build WHERE commit_sha = $1", [commit]);
  return z.object({ status: z.string() }).safeParse(rows[0]).data?.status ?? null;
}

const quantile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

const columns = [...parts, "cpu", "others"] as const;

/** Prints each series of pushes: medians of the parts, and the 95th percentile of the whole. */
export function printPushes(series: readonly { readonly what: string; readonly pushes: readonly Push[] }[]): void {
  const line = (what: string, cells: readonly string[]) =>
    process.stdout.write(`${what.padEnd(44)}${cells.map((cell) => cell.padStart(9)).join("")}\n`);
  line("median ms", ["runs", "total", "p95", ...columns.slice(1)]);
  for (const { what, pushes } of series) {
    const of = (column: (typeof columns)[number], share: number) =>
      quantile(
        pushes.map((push) => push[column]),
        share,
      );
    const rest = columns.slice(1).map((column) => of(column, 0.5).toFixed(column === "others" ? 1 : 0));
    line(what, [String(pushes.length), of("total", 0.5).toFixed(0), of("total", 0.95).toFixed(0), ...rest]);
  }
}
