import { join } from "node:path";
import {
  createApiKeyChecker,
  createGrantChecker,
  createMembershipChecker,
  createSigningKeys,
} from "@towpath/auth/credentials";
import { createWorkloadChecker, createWorkloadVerifier, IssuerKeyCache } from "@towpath/auth/workloads";
import { type Notifications, openNotifications } from "@towpath/db/notifications";
import { createAddressPolicy } from "@towpath/egress";
import { createRunnerClient } from "@towpath/runner-api";
import { createSecretBox, guardDatabase, type SecretBox } from "@towpath/secrets";
import { SpanExporter } from "@towpath/telemetry";
import pg from "pg";
import type { Logger } from "pino";
import { type GatewayConfig, lastRowsMs } from "./config.ts";
import { ExternalUpstreams } from "./external/external-upstreams.ts";
import { UpstreamCredentials } from "./external/upstream-credentials.ts";
import { createAssertIdentity } from "./forward/assertions.ts";
import { Leases } from "./forward/leases.ts";
import { SlowStart } from "./forward/slow-start.ts";
import { Upstreams } from "./forward/upstreams.ts";
import { createAuthorizationServer } from "./oauth/authorization-server.ts";
import { clientReadings, logReadings, serverReadings } from "./platform/readings.ts";
import { createAccessTokens } from "./policy/access-tokens.ts";
import { Capacity } from "./policy/capacity.ts";
import { Connections } from "./policy/connections.ts";
import { createAuthenticate } from "./policy/credentials.ts";
import { keepCredentialsCurrent } from "./policy/current-credentials.ts";
import { OpenResponses } from "./policy/open-responses.ts";
import { createSessionIds } from "./policy/sessions.ts";
import { createMemberIds } from "./portal/member-ids.ts";
import { MemberSessions } from "./portal/member-sessions.ts";
import { Portals } from "./portal/portals.ts";
import { createPortalReach } from "./portal/reach.ts";
import { createAuditDecryption } from "./read-model/decryptions.ts";
import { createLoadPortals } from "./read-model/portals.ts";
import { createLoadRecordedAnswers } from "./read-model/recorded-answers.ts";
import { createVariableReader } from "./read-model/variables.ts";
import { PendingCalls } from "./record/pending-calls.ts";
import { Recorder } from "./record/recorder.ts";
import { Redactors } from "./record/redactors.ts";
import { RefusalLimit } from "./record/refusal-limit.ts";
import { SegmentCopies } from "./record/segment-copies.ts";
import { SignIns } from "./record/sign-ins.ts";
import { maxSpoolBytes, Spool } from "./record/spool.ts";
import { RouteTable } from "./route/route-table.ts";
import { CallSampler } from "./samples/call-sampler.ts";
import { createSleeping } from "./sleeping/sleeping.ts";
import { spanOf } from "./tracing/span.ts";
import { createTracer } from "./tracing/tracer.ts";
import { type Announce, createAnnounce } from "./workers/news.ts";
import { OtherGateways } from "./workers/other-gateways.ts";
import type { Peers } from "./workers/peers.ts";

/** What all parts of a process need. */
export type Base = {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly notifications: Notifications;
  readonly box: SecretBox;
  readonly routes: RouteTable;
  /** The other processes of this gateway, and the other gateways; `announce` reaches both. */
  readonly peers: Peers;
  readonly gateways: OtherGateways;
  readonly announce: Announce;
};

/** Time for the last spans when the gateway stops. */
const lastSpansMs = 500;

/** Between two searches for log rows in the bucket whose gateway has ended. */
const takeEveryMs = 30_000;

/** For the gateway as a whole, plus one for each worker that listens; a worker has at least two. */
const maxDatabaseConnections = 4;

/** Longer than a healthy database needs. */
const keysWithinMs = 1000;

export async function openBase(config: GatewayConfig, log: Logger, peers: Peers): Promise<Base> {
  const pool = openPool(config, log);
  const notifications = openNotifications(config.directDatabaseUrl, {
    applicationName: "towpath-gateway-listen",
    onProblem: (error) => log.debug({ err: error }, "cannot listen to the database"),
  });
  const { gatewayId, workerIndex } = config;
  const gateways = new OtherGateways({ pool, notifications, gatewayId, speaksForGateway: workerIndex === 0 });
  const announce = createAnnounce(peers, gateways);
  const box = await openSecretBox(config, pool, log);
  return { config, log, pool, notifications, box, routes: new RouteTable(), peers, gateways, announce };
}

function openPool({ databaseUrl, share }: GatewayConfig, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: Math.max(2, Math.ceil(maxDatabaseConnections * share)),
    // An unavailable database must be detected soon: rows and key checks wait meanwhile.
    connectionTimeoutMillis: 3000,
    query_timeout: 15_000,
    application_name: "towpath-gateway",
  });
  pool.on("error", (error) => log.debug({ err: error }, "an idle database connection ended"));
  // One that breaks between two queries of a transaction: without a listener the process would end.
  pool.on("connect", (connection) => connection.on("error", () => {}));
  return pool;
}

async function openSecretBox({ secrets }: GatewayConfig, pool: pg.Pool, log: Logger): Promise<SecretBox> {
  const box = createSecretBox(secrets);
  await guardDatabase(pool, box.masterKeys, {
    withinMs: keysWithinMs,
    onWrong: (error) => {
      log.fatal({ err: error }, error.message);
      process.exit(1);
    },
  });
  return box;
}

/** Authentication, and whether callers still have access. */
export function createCallers({ config, pool, notifications, routes, log }: Base) {
  const { outageMs, secret, issuer, serverAddress } = config;
  const apiKeys = createApiKeyChecker(pool, { outageMs });
  const members = createMembershipChecker(pool, { outageMs });
  const grants = createGrantChecker(pool, { outageMs });
  const signingKeys = createSigningKeys({ pool, secret, issuer });
  const accessTokens = createAccessTokens(signingKeys);
  const workloads = createWorkloadChecker(pool, { outageMs });
  const issuerKeys = new IssuerKeyCache({
    policy: createAddressPolicy(config.externalNetworks),
    operator: config.operatorIssuer,
    outageMs,
    onProblem: (source, problem) => void workloads.storeProblem(source, problem),
  });
  const verifier = createWorkloadVerifier({ workloads, keys: issuerKeys, ownIssuer: issuer });
  const openResponses = new OpenResponses({ pool, log, routes });
  const authorizationServer = createAuthorizationServer(issuer);
  let stopCredentials = () => {};
  return {
    /** Saved for an outage. */
    known: {
      apiKeys: apiKeys.cache,
      members: members.cache,
      grants: grants.cache,
      workloads: workloads.cache,
      issuerKeys,
      signingKeys,
    },
    parts: {
      authenticate: createAuthenticate({
        apiKeys,
        members,
        accessTokens,
        grants,
        serverAddress,
        signingKeys,
        workloads: verifier,
      }),
      assertIdentity: createAssertIdentity(signingKeys, serverAddress),
      openResponses,
      authorizationServer,
    },
    /** `onMayHaveChanged`: receives whether credentials certainly have changed. */
    start(onMayHaveChanged: (isCertain: boolean) => void) {
      stopCredentials = keepCredentialsCurrent({ apiKeys, members, grants, workloads }, notifications, (isCertain) => {
        onMayHaveChanged(isCertain);
        void openResponses.check();
      });
      openResponses.start();
    },
    stop() {
      stopCredentials();
      openResponses.stop();
      return authorizationServer.close();
    },
  };
}

/** The routes, and the limits on requests. */
export function createEntry({ config }: Base) {
  const { serverAddress, issuer, allowedOrigins, holdMs } = config;
  const connections = new Connections(config.connections);
  const capacity = new Capacity(config.capacity);
  return {
    connections,
    parts: {
      serverAddress,
      dashboard: issuer,
      allowedOrigins,
      proxies: config.connections.proxies,
      holdMs,
      capacity,
    },
    readings: clientReadings({ config, connections, capacity }),
  };
}

/** The request log and other records of calls. */
export async function createRecord({ config, log, pool, box, routes, announce }: Base) {
  const { share, otlp, workerIndex: worker } = config;
  const spool = await Spool.open(join(config.stateDirectory, "spool"), { maxBytes: maxSpoolBytes * share });
  const exporter = otlp && new SpanExporter({ settings: otlp, log, role: "gateway", share, worker, spanOf });
  const tracer = exporter && createTracer(exporter, otlp?.sampleRatio ?? 0);
  const copies = config.spoolBucket && (await copiesOf(config, spool, log));
  const sampler = new CallSampler({ pool, box, log, share });
  const onRecorded = [...(tracer ? [tracer.end] : []), sampler.take];
  const recorder = new Recorder({ pool, spool, log, share, copies, onRecorded });
  const pendingCalls = new PendingCalls({
    onSettled: (call) => recorder.record(call),
    cancelElsewhere: (canceled) => announce({ kind: "canceled", ...canceled }),
    share,
  });
  const read = createVariableReader(pool, box);
  const redactors = new Redactors({ read, routed: () => routes.deployments(), share, log });
  const refusalLimit = new RefusalLimit({ share });
  const signIns = new SignIns({ pool, share, log });
  return {
    parts: { recorder, pendingCalls, redactors, refusalLimit, signIns, tracer },
    exporter,
    readings: logReadings({ recorder, refusalLimit, spool, pendingCalls }),
    start() {
      recorder.start();
      sampler.start();
    },
    stop() {
      pendingCalls.stop();
      redactors.stop();
      return Promise.all([recorder.stop(), sampler.stop(), signIns.stop(), exporter?.stop(lastSpansMs)]);
    },
  };
}

/** One process of a gateway looks for what others have left. */
async function copiesOf(
  { spoolBucket, workerIndex }: GatewayConfig,
  spool: Spool,
  log: Logger,
): Promise<SegmentCopies | null> {
  if (spoolBucket === null) return null;
  const { openBucket } = await import("@towpath/artifacts/bucket");
  return new SegmentCopies({
    bucket: openBucket(spoolBucket, "bucket of log rows"),
    spool,
    log,
    takeEveryMs: workerIndex === 0 ? takeEveryMs : null,
    finishMs: lastRowsMs,
  });
}

/** The servers, on this instance and external. */
export function createServers({ config, log, pool, box, announce }: Base) {
  const { outageMs, secret, secrets, share } = config;
  const upstreams = new Upstreams();
  const externalUpstreams = new ExternalUpstreams({
    policy: createAddressPolicy(config.externalNetworks),
    answerMs: config.externalTimeoutMs,
  });
  const upstreamCredentials = new UpstreamCredentials({ box, audit: createAuditDecryption(pool) });
  const runner = createRunnerClient(config.runner, { timeoutMs: config.holdMs * 2 });
  const leases = new Leases({ runner, upstreams, withoutRunnerMs: outageMs });
  const sessionIds = createSessionIds(secret, secrets.previous);
  const load = createLoadRecordedAnswers(pool);
  const sleeping = createSleeping({ load, log, share, leases, sessionIds, announce });
  return {
    parts: { leases, slowStart: new SlowStart(), sleeping, externalUpstreams, upstreamCredentials, sessionIds },
    readings: [...sleeping.readings, ...serverReadings({ leases, upstreams, externalUpstreams })],
    stop() {
      leases.stop();
      return Promise.all([upstreams.destroy(), externalUpstreams.destroy(), runner.close()]);
    },
  };
}

export function createPortals({ config, log, pool, routes }: Base) {
  const { stateDirectory: directory, workerIndex, secret, secrets } = config;
  const portals = new Portals({ load: createLoadPortals(pool), directory, writesSnapshot: workerIndex === 0, log });
  const reach = createPortalReach({ portals, routes });
  return { portals, reach, memberSessions: new MemberSessions(), memberIds: createMemberIds(secret, secrets.previous) };
}
