import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A measured path to an answer, with the proxy's process. */
export type Side = {
  name: string;
  url: string;
  request: { method: string; headers: Readonly<Record<string, string>>; body: string };
  /** Null without a proxy. */
  pid: number | null;
};

export type Measured = {
  requestsPerSecond: number;
  medianMs: number;
  requests: number;
  failures: number;
  /** Of the side's process, its threads and its children. */
  cpuMicros: number;
};

/** Loads a side with wrk on one thread for some seconds. */
export async function load(
  { name, url, request, pid }: Side,
  { directory, connections, seconds }: { directory: string; connections: number; seconds: number },
): Promise<Measured> {
  const script = join(directory, `${name.replaceAll(/\W+/g, "-")}.lua`);
  await writeFile(script, wrkScript(request));
  const before = await cpuMicrosOf(pid);
  const { stdout } = await run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, url]);
  const cpuMicros = (await cpuMicrosOf(pid)) - before;
  const [requests, micros, p50, failures] = (/RESULT (\S+) (\S+) (\S+) (\S+)/.exec(stdout) ?? []).slice(1).map(Number);
  if (requests === undefined || micros === undefined || p50 === undefined || failures === undefined) {
    throw new Error(`wrk printed no result:\n${stdout}`);
  }
  return {
    requestsPerSecond: (requests / micros) * 1e6,
    medianMs: p50 / 1000,
    requests,
    failures,
    cpuMicros: cpuMicros / requests,
  };
}

/** Enough for the JIT compiler, which takes a sixth of the gateway's time at first; fewer on a busy machine. */
const warmUpRequests = 60_000;
const maxWarmUpSeconds = 30;

/** Loads a side until the code that serves it is compiled. */
export async function warmUp(side: Side, options: { directory: string; connections: number }): Promise<void> {
  let requests = 0;
  for (let at = 0; requests < warmUpRequests && at < maxWarmUpSeconds; at += 2) {
    requests += (await load(side, { ...options, seconds: 2 })).requests;
  }
}

/** Makes wrk send a request, and print a line that begins with RESULT. */
export function wrkScript({ method, headers, body }: Side["request"]): string {
  return `
wrk.method = "${method}"
wrk.body = [==[${body}]==]
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  .join("\n")}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

/** CPU time that a process has used with all of its threads and children, in microseconds; 0 once it has ended. */
export async function cpuMicrosOf(pid: number | null): Promise<number> {
  if (pid === null) return 0;
  let micros = 0;
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const read = (file: string) => readFile(`/proc/${pid}/task/${thread}/${file}`, "utf8").catch(() => "");
    // Nanoseconds; /proc/{pid}/stat counts ticks of 10 ms.
    micros += Number((await read("schedstat")).split(" ")[0]) / 1000;
    const children = (await read("children")).split(" ").filter((child) => child.trim() !== "");
    for (const child of children) micros += await cpuMicrosOf(Number(child));
  }
  return micros;
}
