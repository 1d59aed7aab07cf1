import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Facts } from "../facts.ts";
import { type Check, fix, notNeeded, ok, reasonOf } from "../finding.ts";

const withinMs = 5_000;

type Address = { readonly path: string } & (
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number }
);

/** Whether each process of the running instance answers. */
export const processes: Check = async (facts) => {
  if (facts.running === null) return [notNeeded("processes", "no instance runs")];
  const logs = join(facts.options.dataDirectory, "logs");
  return Promise.all(
    Object.entries(addressesOf(facts)).map(async ([name, address]) => {
      const remedy = `Its log may say why: ${join(logs, `${name}.log`)}`;
      try {
        const { statusCode } = await answerOf(address);
        if (statusCode === 200) return ok(name, "answers");
        return fix(
          name,
          `answers ${statusCode}: ${statusCode === 503 ? "it can't reach the database" : "it is out of order"}`,
          remedy,
        );
      } catch (error) {
        return fix(name, `doesn't answer: ${reasonOf(error)}`, remedy);
      }
    }),
  );
};

function addressesOf({ options, settings }: Facts): Readonly<Record<string, Address>> {
  const inRunDirectory = (name: string) => join(options.runDirectory, name);
  const { TOWPATH_WORKER_METRICS_PORT: port, TOWPATH_METRICS_HOST: host = "127.0.0.1" } = settings;
  return {
    web: { host: reachable(options.host), port: options.port, path: "/healthz" },
    gateway: { host: reachable(options.gatewayHost), port: options.gatewayPort, path: "/-/healthz" },
    runner: { socketPath: inRunDirectory("runner.sock"), path: "/healthz" },
    worker: {
      ...(port === undefined ? { socketPath: inRunDirectory("worker-metrics.sock") } : { host, port: Number(port) }),
      path: "/-/metrics",
    },
  };
}

/** What listens on every address is asked on this machine's own. */
const reachable = (host: string) => (host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host);

async function answerOf(address: Address): Promise<IncomingMessage> {
  const signal = AbortSignal.timeout(withinMs);
  const request = get({ ...address, signal });
  const [response] = (await once(request, "response", { signal })) as [IncomingMessage];
  response.resume();
  return response;
}
