// The image's health check: status 0 if the process of this container answers. Its role is the last argument of the first
// process; any other command is healthy while it runs.
import { readFileSync } from "node:fs";
import { type RequestOptions, request } from "node:http";

const timeoutMs = 4000;
const { TOWPATH_PORT, TOWPATH_GATEWAY_PORT, TOWPATH_RUNNER_LISTEN, TOWPATH_RUNNER_ADDRESS, TOWPATH_RUN_DIR } =
  process.env;

const runnerPort = /:(\d+)$/.exec(TOWPATH_RUNNER_LISTEN ?? TOWPATH_RUNNER_ADDRESS ?? "")?.[1];

/** Where each role reports its health. The worker serves nothing but its metrics. */
const places: Readonly<Record<string, RequestOptions>> = {
  web: { port: TOWPATH_PORT ?? 3000, path: "/healthz" },
  gateway: { port: TOWPATH_GATEWAY_PORT ?? 8080, path: "/-/healthz" },
  runner: {
    ...(runnerPort ? { port: runnerPort } : { socketPath: `${TOWPATH_RUN_DIR}/runner.sock` }),
    path: "/healthz",
  },
  worker: { socketPath: `${TOWPATH_RUN_DIR}/worker-metrics.sock`, path: "/-/metrics" },
};

const role = readFileSync("/proc/1/cmdline", "utf8").split("\0").filter(Boolean).at(-1) ?? "";
const place = places[role];
if (place !== undefined) {
  const asked = request({ host: "127.0.0.1", timeout: timeoutMs, ...place }, ({ statusCode }) => {
    process.exit(statusCode === 200 ? 0 : 1);
  });
  asked.once("timeout", () => process.exit(1));
  asked.once("error", () => process.exit(1));
  asked.end();
}
