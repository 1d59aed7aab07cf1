import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const complete = {
  DATABASE_URL: "postgresql://x@/y?host=/z",
  TOWPATH_DATA_DIR: "/data",
  TOWPATH_RUN_DIR: "/run/t",
  TOWPATH_SECRET: "x".repeat(32),
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
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
    holdMs: 60_000,
    runnerSocket: "/run/t/runner.sock",
    stateDirectory: "/data/gateway",
    allowedOrigins: [],
  });
});
