import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export type Measured = {
  requestsPerSecond: number;
  medianMs: number;
  requests: number;
  failures: number;
  cpuMicros: number;
};

/** Loads a URL with wrk on one thread for some seconds. */
export async function loadOf(options: {
  url: string;
  script: string;
  connections: number;
  seconds: number;
  pid?: number | undefined;
}): Promise<Measured> {
  const before = await cpuMicrosOf(options.pid);
  const { stdout } = await run("wrk", [
    "-t1",
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    "-s",
    options.script,
    options.url,
  ]);
  const [requests, micros, p50, failures] = (/RESULT (\S+) (\S+) (\S+) (\S+)/.exec(stdout) ?? []).slice(1).map(Number);
  if (requests === undefined || micros === undefined || p50 === undefined || failures === undefined) {
    throw new Error(`wrk said something else:\n${stdout}`);
  }
  return {
    requestsPerSecond: (requests / micros) * 1e6,
    medianMs: p50 / 1000,
    requests,
    failures,
    cpuMicros: ((await cpuMicrosOf(options.pid)) - before) / requests,
  };
}

/** CPU time that a process has used with all of its threads, in microseconds (ticks of 10 ms). */
async function cpuMicrosOf(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
