// Gateway beside nginx: the same requests to the same server, through the gateway's full path (route, policy, forward,
// record into a real database) and through nginx `proxy_pass`, in one run. `node tests/bench/gateway.ts [seconds]`
// needs nginx and wrk. The server is nginx too, on a unix socket, so that it is never the bottleneck.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadOf, type Measured } from "./gateway-load.ts";
import { type Bench, startBench } from "./gateway-setup.ts";
import { median } from "./measure.ts";

const seconds = Number(process.argv[2] ?? 4);
const rounds = 5;
const warmUpSeconds = 8;
const withToken = "towpath gateway, OAuth token";

const bench = await startBench();
try {
  await compare(bench);
} finally {
  await bench.stop();
}

async function compare({ directory, ports, label, signedIn, processes, rowsWritten }: Bench): Promise<void> {
  const script = join(directory, "post.lua");
  await writeFile(script, bench.wrkScript);
  const signedInScript = join(directory, "post-signed-in.lua");
  await writeFile(signedInScript, `${bench.wrkScript}\nwrk.headers["authorization"] = "Bearer ${signedIn.token}"\n`);
  const scriptOf = (name: string) => (name === withToken ? signedInScript : script);
  const targets = {
    "server itself": `http://127.0.0.1:${ports.server}/mcp`,
    "nginx proxy_pass": `http://127.0.0.1:${ports.nginx}/mcp`,
    "nginx, upstream keepalive": `http://127.0.0.1:${ports.tuned}/mcp`,
    "towpath gateway": `http://127.0.0.1:${ports.gateway}/${label}/mcp`,
    [withToken]: `http://127.0.0.1:${ports.gateway}/${signedIn.label}/mcp`,
  };
  const pids: Record<string, number> = {
    "nginx proxy_pass": processes.nginx,
    "nginx, upstream keepalive": processes.nginx,
    "towpath gateway": processes.gateway,
    [withToken]: processes.gateway,
  };
  // Long enough for the JIT compiler: in the first seconds it takes a sixth of the gateway's time.
  for (const [name, url] of Object.entries(targets)) {
    await loadOf({ url, script: scriptOf(name), connections: 32, seconds: warmUpSeconds });
  }

  const loaded = new Map<string, Measured[]>();
  const alone = new Map<string, Measured[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, url] of Object.entries(targets)) {
      add(loaded, name, await loadOf({ url, script: scriptOf(name), connections: 32, seconds, pid: pids[name] }));
      add(
        alone,
        name,
        await loadOf({ url, script: scriptOf(name), connections: 1, seconds: Math.max(1, Math.round(seconds / 2)) }),
      );
    }
  }
  const rate = (name: string) => median((loaded.get(name) ?? []).map((one) => one.requestsPerSecond));
  const latency = (of: Map<string, Measured[]>, name: string) =>
    median((of.get(name) ?? []).map((one) => one.medianMs));
  // Each against nginx in the same round: the load of the machine changes from round to round.
  const ratios = (name: string) =>
    (loaded.get(name) ?? []).map((one, at) => {
      const beside = loaded.get("nginx proxy_pass")?.[at];
      return beside ? one.requestsPerSecond / beside.requestsPerSecond : Number.NaN;
    });
  const cpu = (name: string) => median((loaded.get(name) ?? []).map((one) => one.cpuMicros));
  const aloneMs = latency(alone, "server itself");
  console.table(
    Object.keys(targets).map((name) => ({
      through: name,
      "requests/s (32 connections)": Math.round(rate(name)),
      "of nginx": median(ratios(name)).toFixed(2),
      "CPU µs a request": cpu(name).toFixed(1),
      "of nginx by CPU": (cpu("nginx proxy_pass") / cpu(name)).toFixed(2),
      "median ms (32)": latency(loaded, name).toFixed(3),
      "median ms (1)": latency(alone, name).toFixed(3),
      "added to server (1)": (latency(alone, name) - aloneMs).toFixed(3),
    })),
  );
  // On a busy machine compare CPU: nginx, which waits for its server, suffers more there than the gateway.
  console.log(
    `gateway of nginx by round: ${ratios("towpath gateway")
      .map((ratio) => ratio.toFixed(2))
      .join(" ")}`,
  );
  const failures = [...loaded.values(), ...alone.values()].flat().reduce((sum, one) => sum + one.failures, 0);
  const throughGateway = ["towpath gateway", withToken];
  const sent = [loaded, alone]
    .flatMap((each) => throughGateway.flatMap((name) => each.get(name) ?? []))
    .reduce((sum, one) => sum + one.requests, 0);
  console.log(
    `failed requests: ${failures}; request-log rows in the database: ${await rowsWritten()} (counted requests: ${sent}, warm-up not counted)`,
  );
  console.log("targets: >= 0.50 of nginx, <= 0.200 ms added");
}

function add(to: Map<string, Measured[]>, name: string, measured: Measured): void {
  to.set(name, [...(to.get(name) ?? []), measured]);
}
