import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { configOfWorker, readConfig } from "./config.ts";

const complete = {
  DATABASE_URL: "postgresql://x@/y?host=/z",
  TOWPATH_DATA_DIR: "/data",
  TOWPATH_RUN_DIR: "/run/t",
  TOWPATH_SECRET: "x".repeat(32),
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
  TOWPATH_GATEWAY_WORKERS: "1",
};

test("OPS-1 all wrong settings are listed at once, without their values", () => {
  const wrong = {
    ...complete,
    DATABASE_URL: "",
    TOWPATH_SECRET: "short-secret",
    TOWPATH_SERVER_URL: "https://example.com",
    TOWPATH_GATEWAY_PORT: "x",
  };
  const message = (() => {
    try {
      readConfig(wrong);
    } catch (error) {
      return String(error);
    }
    return "";
  })();
  for (const name of ["DATABASE_URL", "TOWPATH_SECRET", "TOWPATH_SERVER_URL", "TOWPATH_GATEWAY_PORT"])
    expect(message).toContain(name);
  expect(message).not.toContain("short-secret");
});

test("OPS-1 defaults: loopback, port 8080, a hold of one minute", () => {
  expect(readConfig(complete)).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    metrics: null,
    holdMs: 60_000,
    runner: { kind: "unix", path: "/run/t/runner.sock" },
    stateDirectory: "/data/gateway",
    allowedOrigins: [],
  });
});

test("GW-14 limits are those of all workers together: each keeps to its part, and none is left with too little", () => {
  const many = { ...complete, TOWPATH_GATEWAY_WORKERS: "3", TOWPATH_GATEWAY_MAX_CONNECTIONS: "1000" };
  const config = readConfig(many, 20_000);
  expect(config).toMatchObject({ workers: 3, share: 1, connections: { maxConnections: 1000 } });
  expect(configOfWorker(config)).toMatchObject({
    share: 1 / 3,
    connections: {
      maxConnections: 333,
      maxConnectionsPerAddress: 83,
      maxIdlePerAddress: 41,
      newPerAddress: { perMinute: 2000, burst: 200 },
    },
    capacity: { maxRequestsPerServer: 41, maxBodyBytes: Math.floor((256 * 1024 * 1024) / 3) },
    openLimits: { caller: 21, organization: 83 },
    // Workers share these instead, and know their gateway.
    callLimits: config.callLimits,
    gatewayId: config.gatewayId,
  });
  // Open files are counted for each process.
  expect(readConfig({ ...complete, TOWPATH_GATEWAY_WORKERS: "4" }, 1024).connections.maxConnections).toBe(4 * 448);
  expect(() => readConfig({ ...many, TOWPATH_GATEWAY_MAX_BODY_MIB: "16" })).toThrow(/MAX_BODY_MIB: must be 8 or more/);
  const { TOWPATH_GATEWAY_WORKERS: _, ...byCores } = complete;
  expect(readConfig(byCores).workers).toBe(Math.min(availableParallelism(), 4));
  expect(readConfig({ ...byCores, TOWPATH_GATEWAY_MAX_BODY_MIB: "8" }).workers).toBe(1);
});

test("GW-8 OPS-1 limits of calls: generous by default, 0 is none, and each gateway has an id of its own", () => {
  expect(readConfig(complete).callLimits).toEqual({
    caller: { perMinute: 6000, burst: 1000 },
    server: { perMinute: 30_000, burst: 3000 },
    organization: { perMinute: 60_000, burst: 6000 },
  });
  const some = { TOWPATH_LIMIT_CALLER_PER_MINUTE: "60", TOWPATH_LIMIT_SERVER_PER_MINUTE: "0" };
  const { callLimits, gatewayId } = readConfig({ ...complete, ...some });
  expect(callLimits).toMatchObject({ caller: { perMinute: 60, burst: 1000 }, server: null });
  expect(readConfig(complete).gatewayId).not.toBe(gatewayId);
  expect(() => readConfig({ ...complete, TOWPATH_LIMIT_CALLER_PER_MINUTE: "-1" })).toThrow(/0 \(no limit\) or more/);
  expect(() => readConfig({ ...complete, TOWPATH_LIMIT_SERVER_BURST: "0" })).toThrow(/SERVER_BURST: must be 1 or more/);
});

test("OPS-1 GW-9 the limits of connections follow from how many files may be open, and a setting beyond that is refused", () => {
  expect(readConfig(complete, 20_000)).toMatchObject({
    connections: { maxConnections: 9936, maxConnectionsPerAddress: 2484, maxIdlePerAddress: 1242 },
    capacity: { maxRequestsPerServer: 1242, maxBodyBytes: 256 * 1024 * 1024 },
  });
  expect(readConfig(complete, 1_000_000).connections.maxConnections).toBe(10_000);
  expect(readConfig(complete, 1024).connections.maxConnections).toBe(448);
  const many = { ...complete, TOWPATH_GATEWAY_MAX_CONNECTIONS: "2000", TOWPATH_GATEWAY_PROXIES: "proxy.example" };
  expect(() => readConfig(many, 4000)).toThrow(/MAX_CONNECTIONS: .*may open 4000/);
  expect(() => readConfig(many, 4000)).toThrow(/PROXIES: .*"proxy.example" is neither/);
  expect(readConfig({ ...many, TOWPATH_GATEWAY_PROXIES: "" }, 5000).connections.maxConnections).toBe(2000);
});

test("GW-10 OPS-1 a bucket for log rows that wait is a setting, and one without its key is refused", () => {
  expect(readConfig(complete).spoolBucket).toBeNull();
  const bucket = {
    TOWPATH_GATEWAY_SPOOL_TO: "s3://towpath/rows",
    TOWPATH_ARTIFACTS_ENDPOINT: "https://s3.example.com",
  };
  expect(() => readConfig(bucket as NodeJS.ProcessEnv)).toThrow(
    /ACCESS_KEY_ID: is missing, and TOWPATH_GATEWAY_SPOOL_TO names a bucket\n.*SECRET_ACCESS_KEY: is missing/,
  );
  expect(() => readConfig({ ...complete, TOWPATH_GATEWAY_SPOOL_TO: "/rows" })).toThrow(/SPOOL_TO: must be s3:/);
  const key = { TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "id", TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "key" };
  expect(readConfig({ ...complete, ...bucket, ...key }).spoolBucket).toMatchObject({
    url: "https://s3.example.com/towpath",
    prefix: "rows/",
  });
});
