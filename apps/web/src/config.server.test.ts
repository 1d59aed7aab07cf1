import { expect, test } from "vitest";
import { readWebConfig, SettingsError } from "./config.server.ts";

const valid = {
  DATABASE_URL: "postgresql://towpath@/towpath?host=/tmp&port=5432",
  TOWPATH_DATA_DIR: "/data",
  TOWPATH_SECRET: "a secret that is long enough for this",
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
};

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readWebConfig(environment);
    return "";
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
};

test("settings have defaults, and the trailing slash of the URL is dropped", () => {
  expect(readWebConfig({ ...valid, TOWPATH_URL: "https://towpath.example/" })).toMatchObject({
    baseUrl: "https://towpath.example",
    host: "127.0.0.1",
    port: 3000,
    oidc: null,
    gitHub: null,
    logLevel: "info",
  });
});

test("all invalid settings are reported at once, by name", () => {
  const problems = problemsOf({
    TOWPATH_OPERATOR_TOKEN: "short",
    TOWPATH_PROXIES: "10.0.0.0/8, proxy.example",
    TOWPATH_SECRET: "short",
    TOWPATH_SERVER_URL: "http://localhost:8080/x",
    TOWPATH_OIDC_ISSUER: "https://id.example",
    GITHUB_APP_ID: "1",
  });
  for (const name of [
    "DATABASE_URL",
    "TOWPATH_DATA_DIR",
    "TOWPATH_SECRET",
    "TOWPATH_OPERATOR_TOKEN",
    'TOWPATH_PROXIES must be addresses or networks such as 10.0.0.0/8, separated by commas; "proxy.example" is neither',
    "TOWPATH_SERVER_URL",
    "TOWPATH_OIDC_CLIENT_ID",
    "TOWPATH_OIDC_CLIENT_SECRET",
    "GITHUB_CLIENT_ID",
    "GITHUB_WEBHOOK_SECRET",
  ]) {
    expect(problems).toContain(name);
  }
  expect(problems).not.toContain("short");
});

test("AUTH-2 the settings of an issuer are required together; empty ones count as missing", () => {
  const oidc = {
    TOWPATH_OIDC_ISSUER: "https://id.example",
    TOWPATH_OIDC_CLIENT_ID: "towpath",
    TOWPATH_OIDC_CLIENT_SECRET: "secret",
  };
  expect(readWebConfig({ ...valid, ...oidc }).oidc).toEqual({
    issuer: "https://id.example",
    clientId: "towpath",
    clientSecret: "secret",
  });
  expect(readWebConfig({ ...valid, TOWPATH_OIDC_ISSUER: "" }).oidc).toBeNull();
  expect(problemsOf({ ...valid, ...oidc, TOWPATH_OIDC_CLIENT_ID: "" })).toContain("TOWPATH_OIDC_CLIENT_ID");
});

test("OPS-5 the base URL is local port 3000 on a local instance, and must be given for preview and production", () => {
  expect(readWebConfig(valid).baseUrl).toBe("http://localhost:3000");
  for (const TOWPATH_ENVIRONMENT of ["preview", "production"]) {
    expect(problemsOf({ ...valid, TOWPATH_ENVIRONMENT })).toContain("TOWPATH_URL is missing");
    const TOWPATH_URL = `https://${TOWPATH_ENVIRONMENT}.towpath.example`;
    expect(readWebConfig({ ...valid, TOWPATH_ENVIRONMENT, TOWPATH_URL }).baseUrl).toBe(TOWPATH_URL);
  }
  expect(problemsOf({ ...valid, TOWPATH_ENVIRONMENT: "staging" })).toContain("must be local, preview or production");
});

test("ERR-6 error reporting and analytics are off by default, and their settings are checked", () => {
  expect(readWebConfig(valid).thirdParties).toEqual({ errorReporting: null, analytics: null });
  const configured = readWebConfig({
    ...valid,
    TOWPATH_ERROR_REPORTING_DSN: "https://key@errors.example/7",
    TOWPATH_ANALYTICS_SCRIPT: "https://count.example/script.js",
    TOWPATH_ANALYTICS_ATTRIBUTES: " data-domain=towpath.example  data-api=/a=b ",
  });
  expect(configured.thirdParties).toEqual({
    errorReporting: { dsn: "https://key@errors.example/7", environment: "local" },
    analytics: {
      script: "https://count.example/script.js",
      attributes: { "data-domain": "towpath.example", "data-api": "/a=b" },
    },
  });
  for (const [name, value] of [
    ["TOWPATH_ERROR_REPORTING_DSN", "https://errors.example/7"],
    ["TOWPATH_ERROR_REPORTING_DSN", "https://key@errors.example/"],
    ["TOWPATH_ERROR_REPORTING_DSN", "errors"],
    ["TOWPATH_ANALYTICS_SCRIPT", "javascript:alert(1)"],
    ["TOWPATH_ANALYTICS_ATTRIBUTES", "onload=alert(1)"],
  ] as const) {
    expect([value, problemsOf({ ...valid, [name]: value })]).toEqual([value, expect.stringContaining(name)]);
  }
});
