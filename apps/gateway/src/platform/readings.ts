import type { Reading } from "@towpath/telemetry";
import type { GatewayConfig } from "../config.ts";
import type { ExternalUpstreams } from "../external/external-upstreams.ts";
import type { Leases } from "../forward/leases.ts";
import type { Upstreams } from "../forward/upstreams.ts";
import type { Capacity } from "../policy/capacity.ts";
import type { Connections } from "../policy/connections.ts";
import type { PendingCalls } from "../record/pending-calls.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RefusalLimit } from "../record/refusal-limit.ts";
import type { Spool } from "../record/spool.ts";
import { counter, gauge } from "./metrics.ts";

type Servers = { leases: Leases; upstreams: Upstreams; externalUpstreams: ExternalUpstreams };

export const serverReadings = ({ leases, upstreams, externalUpstreams }: Servers): Reading[] => [
  gauge("leases", "Deployments with a lease or a request", () => leases.count),
  gauge("upstreams", "Servers with open connections", () => upstreams.count),
  gauge("external_upstreams", "External servers with open connections", () => externalUpstreams.count),
];

type Clients = { config: GatewayConfig; connections: Connections; capacity: Capacity };

export const clientReadings = ({ config, connections, capacity }: Clients): Reading[] => [
  gauge("connections", "Open connections of clients", () => connections.count),
  gauge("connections_max", "Connections that may be open", () => config.connections.maxConnections),
  counter("connections_refused", "New connections that found no room", () => connections.refused),
  counter("connections_evicted", "Idle connections that made room", () => connections.evicted),
  gauge("requests_open", "Requests under way, streams included", () => capacity.requests),
  gauge("body_bytes", "Bytes of request bodies that are held", () => capacity.bodyBytes),
  gauge("body_bytes_max", "Bytes of request bodies that may be held", () => config.capacity.maxBodyBytes),
];

type Log = { recorder: Recorder; refusalLimit: RefusalLimit; spool: Spool; pendingCalls: PendingCalls };

export const logReadings = ({ recorder, refusalLimit, spool, pendingCalls }: Log): Reading[] => [
  gauge("calls_open", "Legacy calls whose answer has not come", () => pendingCalls.size),
  counter("log_rows_written", "Rows that are in the database", () => recorder.counters.written),
  counter("log_rows_spooled", "Rows that were kept on disk", () => recorder.counters.spooled),
  counter("log_rows_dropped", "Rows lost: neither memory nor disk had room", () => recorder.counters.dropped),
  counter("log_rows_refused", "Rows that the database will not take", () => recorder.counters.refused),
  counter("log_rows_left_out", "Refused requests without a row, of a flood", () => refusalLimit.leftOut),
  gauge("log_rows_held", "Rows that wait in memory", () => recorder.held),
  gauge("spool_bytes", "Bytes of rows on disk", () => spool.bytes),
];
