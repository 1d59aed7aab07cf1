import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { testPrivateKey } from "./testing/test-forge.ts";

const environment = {
  TOWPATH_DATA_DIR: "/var/lib/towpath",
  GITHUB_APP_ID: "1",
  GITHUB_APP_SLUG: "towpath",
  GITHUB_APP_PRIVATE_KEY: testPrivateKey,
  GITHUB_CLIENT_ID: "Iv1.x",
  GITHUB_CLIENT_SECRET: "secret",
  GITHUB_WEBHOOK_SECRET: "sixteen letters!",
  GITHUB_URL: "http://localhost:8090",
  GITHUB_API_URL: "http://localhost:8090/api/v3",
  FORGE_URL: "http://localhost:8090/",
  FORGE_WEBHOOK_URL: "http://localhost:3000/api/github/webhooks",
  FORGE_CALLBACK_URL: "http://localhost:3000/api/github/callback",
  FORGE_SETUP_URL: "http://localhost:3000/api/github/setup",
};

test("GH-3 the forge defaults to loopback and port 8090", () => {
  expect(readConfig(environment)).toMatchObject({ host: "127.0.0.1", port: 8090, url: "http://localhost:8090" });
});

test("GH-3 an instance with a GitHub App has no forge", () => {
  expect(() => readConfig({ ...environment, GITHUB_URL: "https://github.com" })).toThrow(/has a GitHub App/);
  // The default of GITHUB_URL is github.com.
  expect(() => readConfig({ ...environment, GITHUB_URL: undefined })).toThrow(/has a GitHub App/);
});

test("GH-3 it never starts without its settings, and names all that are missing", () => {
  expect(() => readConfig({})).toThrow("Settings to correct");
  expect(() => readConfig({})).toThrow(/GITHUB_APP_ID[\s\S]*TOWPATH_DATA_DIR[\s\S]*FORGE_URL[\s\S]*FORGE_SETUP_URL/);
});

test("GH-3 it listens on this machine only", () => {
  expect(() => readConfig({ ...environment, FORGE_HOST: "0.0.0.0" })).toThrow(/this machine only/);
});
