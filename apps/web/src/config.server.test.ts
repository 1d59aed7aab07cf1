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
    TOWPATH_SECRET: "short",
    TOWPATH_SERVER_URL: "http://localhost:8080/x",
    TOWPATH_OIDC_ISSUER: "https://id.example",
    GITHUB_APP_ID: "1",
  });
  for (const name of [
    "DATABASE_URL",
    "TOWPATH_DATA_DIR",
    "TOWPATH_SECRET",
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
