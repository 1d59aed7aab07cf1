import type { IncomingMessage, RequestListener } from "node:http";
import { recordAnswers } from "@towpath/mcp/client";
import { secretHeader } from "@towpath/runner-api";
import { standInSecret } from "@towpath/runner-api/testing";
import { answerEmpty } from "./clients.ts";
import type { DeployedServer, Rig } from "./rig.ts";

export type SleepingServer = DeployedServer & {
  /** Requests that have reached the server since its answers were recorded. */
  received: IncomingMessage[];
  /** Whether a gateway has had it started. */
  isStarted: () => boolean;
};

type Options = Parameters<Rig["deploy"]>[1] & {
  choice?: "off" | "stable" | "always";
  /** How the second caller is announced. */
  otherCaller?: Record<string, string>;
};

/** Deploys a server with answers recorded as in a build, which has not been started. */
export async function deployAsleep(
  rig: Rig,
  listener: RequestListener,
  options: Options = {},
): Promise<SleepingServer> {
  const { choice = "stable", otherCaller = {}, ...rest } = options;
  const received: IncomingMessage[] = [];
  const server = await rig.deploy((request, response) => {
    received.push(request);
    listener(request, response);
  }, rest);
  const { endpoint } = server.upstream;
  if (endpoint.kind !== "unix") throw new Error("the rig's servers listen on unix sockets");
  const { answers, variesBy } = await recordAnswers(
    { socketPath: endpoint.path, headers: { [secretHeader]: standInSecret } },
    { timeoutMs: 20_000, otherCaller: { "towpath-actor": "user:other", ...otherCaller } },
  );
  received.length = 0;
  const text = JSON.stringify(answers);
  const { pool } = rig.database;
  await pool.query(
    `INSERT INTO recorded_answers (build_id, answers, bytes, varies_by)
     SELECT build_id, $2, length($2), $3 FROM deployment WHERE id = $1`,
    [server.deploymentId, text, variesBy],
  );
  await choose(rig, server, choice);
  return { ...server, received, isStarted: () => rig.runner.ensured.includes(server.deploymentId) };
}

/** Changes the project's setting; resolves when the gateway knows it. */
export async function choose(rig: Rig, { projectId }: DeployedServer, choice: string): Promise<void> {
  await rig.database.pool.query("UPDATE project SET sleeping_lists = $2 WHERE id = $1", [projectId, choice]);
  // The gateway loads all routes at once: when it knows another new one, it knows the setting too.
  await rig.deploy(answerEmpty);
}

/** From now on the server sleeps as soon as a request has ended: it is frozen, and leases are short. */
export function sleepAlways(rig: Rig, { deploymentId }: DeployedServer): void {
  const server = rig.runner.servers.get(deploymentId);
  if (!server) throw new Error("the server is not deployed");
  rig.runner.leaseMs = 1;
  rig.runner.servers.set(deploymentId, { ...server, isAsleep: true });
}
