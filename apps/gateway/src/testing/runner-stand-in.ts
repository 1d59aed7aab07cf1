import { startUnixServer, type UnixServer } from "./unix-server.ts";

/** What the runner answers for a deployment. */
export type StandInInstance = {
  instanceId: string;
  socketPath: string;
  /** Time that a start takes, milliseconds. */
  startMs?: number;
  failure?: { status: number; code: string; message: string; retryAfterMs?: number };
};

/** Speaks the runner's lease API as another process would; what it answers is set by the test. */
export type RunnerStandIn = {
  instances: Map<string, StandInInstance>;
  /** Deployment ids of the lease calls, in order. */
  leases: string[];
  leaseMs: number;
  /** Takes calls and never answers them, as a process that is stopped. */
  hangs: boolean;
  start: () => Promise<void>;
  stop: () => Promise<void>;
};

export function createRunnerStandIn(socketPath: string): RunnerStandIn {
  let server: UnixServer | null = null;
  const standIn: RunnerStandIn = {
    instances: new Map(),
    leases: [],
    leaseMs: 10_000,
    hangs: false,
    async start() {
      server = await startUnixServer((request, response) => {
        const reply = (status: number, body: unknown) => {
          response.writeHead(status, { "content-type": "application/json" });
          response.end(JSON.stringify(body));
        };
        const deploymentId = /^\/v1\/deployments\/([^/]+)\/lease$/.exec(request.url ?? "")?.[1];
        request.resume();
        if (standIn.hangs) return;
        if (request.url === "/healthz") return reply(200, { status: "ok" });
        if (request.url === "/v1/instances") {
          const running = [...standIn.instances].map(([id, { instanceId }]) => ({
            id: instanceId,
            deploymentId: id,
            state: "ready",
          }));
          return reply(200, { instances: running });
        }
        if (request.method !== "POST" || deploymentId === undefined) return reply(404, {});
        standIn.leases.push(deploymentId);
        const instance = standIn.instances.get(deploymentId);
        if (!instance) return reply(404, { error: { code: "not_found", message: "no such deployment" } });
        setTimeout(() => {
          if (instance.failure) return reply(instance.failure.status, { error: instance.failure });
          const { instanceId, socketPath: path } = instance;
          reply(200, { instanceId, socketPath: path, leaseMs: standIn.leaseMs, state: "started", waitedMs: 0 });
        }, instance.startMs ?? 0);
      }, socketPath);
    },
    async stop() {
      await server?.close();
      server = null;
    },
  };
  return standIn;
}
