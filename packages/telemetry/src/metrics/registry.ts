import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** As packages/db names it; null if unknown. */
type Release = { readonly version: string; readonly commit: string | null; readonly schema: string | null };

type Labels = Readonly<Record<string, string | number>>;

/** A value kept elsewhere, read on each scrape. */
export type Reading = {
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge";
  readonly labels?: readonly string[];
  /** One value, or one for each combination of labels. */
  readonly read: () => Readings | Promise<Readings>;
  /** How the values of several processes of a role are combined. Default: their sum. */
  readonly merged?: "sum" | "max";
};

type Readings = number | Iterable<readonly [labels: Labels, value: number]>;

/**
 * Metrics of the library that are left out: those that list every open handle on each scrape, some of them gauges with
 * the names of counters, and one that can't be combined.
 */
const leftOut =
  /^(?:nodejs_active_(?:handles|requests|resources)(?:_total)?|nodejs_heap_space_size_.*|process_start_time_seconds)$/;

/**
 * Milliseconds between two measurements of the event loop, which the delay includes. They wake an idle process, which takes
 * 0.1 % of a processor; with the library's 10 ms it is 0.4 %.
 */
const eventLoopMs = 50;

/** The metrics of one process, with those of Node and of its release already in it. */
export function openRegistry({ role, release }: { readonly role: string; readonly release: Release }): Registry {
  const { version, commit, schema } = release;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, labels: { role }, eventLoopMonitoringPrecision: eventLoopMs });
  for (const { name } of registry.getMetricsAsArray()) if (leftOut.test(name)) registry.removeSingleMetric(name);
  addReadings(registry, [
    {
      name: "towpath_build_info",
      help: "Always 1; the labels name the release",
      kind: "gauge",
      labels: ["version", "commit", "schema", "role"],
      read: () => [[{ version, commit: commit ?? "", schema: schema ?? "", role }, 1]],
      merged: "max",
    },
    {
      name: "process_start_time_seconds",
      help: "Start of the process, of the gateway's the latest, in seconds since 1970",
      kind: "gauge",
      labels: ["role"],
      read: () => [[{ role }, performance.timeOrigin / 1000]],
      merged: "max",
    },
  ]);
  return registry;
}

export function addReadings(registry: Registry, readings: readonly Reading[]): void {
  for (const { name, help, kind, labels = [], read, merged = "sum" } of readings) {
    const options = { name, help, labelNames: [...labels], aggregator: merged, registers: [registry] };
    const entries = async () => {
      const values = await valuesOf(read);
      return typeof values === "number" ? ([[{}, values]] as const) : values;
    };
    if (kind === "gauge") {
      const metric: Gauge = new Gauge({
        ...options,
        async collect() {
          const found = await entries();
          metric.reset();
          for (const [of, value] of found) metric.set(of, value);
        },
      });
      continue;
    }
    const metric: Counter = new Counter({
      ...options,
      async collect() {
        const found = await entries();
        metric.reset();
        for (const [of, value] of found) metric.inc(of, value);
      },
    });
  }
}

/** A reading that takes longer is left out: without its database, a process must still show the rest. */
const readMs = 3000;

async function valuesOf(read: Reading["read"]): Promise<Readings> {
  const values = read();
  if (!(values instanceof Promise)) return values;
  const late = Promise.withResolvers<Readings>();
  const timer = setTimeout(() => late.resolve([]), readMs);
  return Promise.race([values.catch(() => []), late.promise]).finally(() => clearTimeout(timer));
}

/** What a pool of database connections says of itself (node-postgres). */
type Pool = {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max: number };
};

/** The connections to the database of a process, by what they are for. */
export function poolReadings(role: string, pools: Readonly<Record<string, Pool>>): Reading[] {
  const of = (read: (pool: Pool) => number) => () =>
    Object.entries(pools).map(([pool, each]) => [{ role, pool }, read(each)] as const);
  const labels = ["role", "pool"];
  const gauge = (name: string, help: string, read: (pool: Pool) => number): Reading => ({
    name: `towpath_database_${name}`,
    help,
    kind: "gauge",
    labels,
    read: of(read),
  });
  return [
    gauge("connections_used", "Database connections in use", (pool) => pool.totalCount - pool.idleCount),
    gauge("connections_idle", "Open database connections that are not in use", (pool) => pool.idleCount),
    gauge("connections_max", "Database connections that may be open", (pool) => pool.options.max),
    gauge("queries_waiting", "Queries and transactions that wait for a connection", (pool) => pool.waitingCount),
  ];
}

/** What an exporter of spans counts since the start. */
type Exporter = { readonly counters: { readonly exported: number; readonly dropped: number }; readonly queued: number };

/** `exporter`: null where nothing is traced. */
export function spanReadings(role: string, exporter: Exporter | null): Reading[] {
  return [
    {
      name: "towpath_spans_total",
      help: "Spans by result; dropped: the queue was full, or the collector refused them",
      kind: "counter",
      labels: ["role", "result"],
      read: () => Object.entries(exporter?.counters ?? {}).map(([result, count]) => [{ role, result }, count] as const),
    },
    {
      name: "towpath_spans_queued",
      help: "Spans that wait for the collector",
      kind: "gauge",
      labels: ["role"],
      read: () => [[{ role }, exporter?.queued ?? 0]],
    },
  ];
}
