import { generateKeyPairSync } from "node:crypto";
import { strictIsolation } from "@towpath/runtime/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const settings = {
  DATABASE_URL: "postgresql://towpath@/towpath?host=/run/towpath",
  TOWPATH_DATA_DIR: "/data",
  TOWPATH_RUN_DIR: "/run/towpath",
  TOWPATH_SECRET: "a root secret for tests, at least 32 characters",
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
  GITHUB_APP_ID: "1",
  GITHUB_APP_SLUG: "towpath",
  GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  GITHUB_CLIENT_ID: "Iv1",
  GITHUB_CLIENT_SECRET: "secret",
  GITHUB_WEBHOOK_SECRET: "sixteen characters",
};

test("OPS-1 the worker's settings are a value, with defaults, and the operator's UV_ settings reach builds", () => {
  const config = readConfig({
    ...settings,
    UV_INDEX_URL: "https://pypi.example.com",
    UV_TOOL_DIR: "/x",
    HOME: "/root",
  });
  expect(config.builds.maxBuilds).toBeGreaterThanOrEqual(3);
  expect(config.builds.maxBuildsPerOrganization).toBe(config.builds.maxBuilds - 1);
  expect(config).toMatchObject({ logLevel: "info", serverUrl: "http://localhost:8080/{name}" });
  // Whether the host's certificates count depends on the host.
  const { UV_SYSTEM_CERTS: _, ...buildEnvironment } = config.driver.buildEnvironment;
  expect(buildEnvironment).toEqual({ UV_INDEX_URL: "https://pypi.example.com" });
  expect(config.driver).toMatchObject({ kind: "sandbox", isolation: strictIsolation });
});

test("OPS-1 a build inspects its server within the limits that it has later", () => {
  const limits = (more: Record<string, string>) => readConfig({ ...settings, ...more }).builder.limits;
  expect(limits({})).toMatchObject({ startMs: 60_000, server: { memoryBytes: 512 * 1024 * 1024 } });
  expect(limits({ TOWPATH_START_TIMEOUT_MS: "5000", TOWPATH_SERVER_MEMORY_MIB: "64" })).toMatchObject({
    startMs: 5_000,
    server: { memoryBytes: 64 * 1024 * 1024 },
  });
});

test("OPS-1 mail is off unless both of its settings are there", () => {
  expect(readConfig(settings).mail).toBeNull();
  const mail = { TOWPATH_SMTP_URL: "smtp://localhost:25", TOWPATH_MAIL_FROM: "towpath@example.com" };
  expect(readConfig({ ...settings, ...mail }).mail).toEqual({
    smtpUrl: "smtp://localhost:25",
    from: "towpath@example.com",
  });
  expect(() => readConfig({ ...settings, TOWPATH_SMTP_URL: "smtp://localhost:25" })).toThrow("TOWPATH_MAIL_FROM");
});

test("RUN-1 weak limits are allowed by a plain yes only", () => {
  expect(readConfig({ ...settings, TOWPATH_ALLOW_WEAK_LIMITS: "yes" }).driver).toMatchObject({
    isolation: { allowWeakLimits: true },
  });
  expect(() => readConfig({ ...settings, TOWPATH_ALLOW_WEAK_LIMITS: "true" })).toThrow(
    "TOWPATH_ALLOW_WEAK_LIMITS: must be yes or no",
  );
});

test("OPS-1 all faulty settings are named at once", () => {
  const faulty = {
    ...settings,
    TOWPATH_SECRET: "short",
    TOWPATH_DATA_DIR: "data",
    TOWPATH_SERVER_URL: "http://x",
    TOWPATH_REPOSITORIES: "s3",
    TOWPATH_ARTIFACTS: "s3",
  };
  const problems = () => readConfig({ ...faulty, GITHUB_APP_ID: undefined });
  expect(
    readConfig(Object.fromEntries(Object.entries(settings).filter(([name]) => !name.startsWith("GITHUB_")))).github,
  ).toBeNull();
  for (const name of [
    "TOWPATH_SECRET",
    "TOWPATH_DATA_DIR",
    "TOWPATH_SERVER_URL",
    "TOWPATH_ARTIFACTS",
    "GITHUB_APP_ID",
  ]) {
    expect(problems).toThrow(name);
  }
  expect(problems).toThrow("TOWPATH_REPOSITORIES: must be directory or bundles");
  expect(readConfig(settings).repositories).toBe("directory");
});
