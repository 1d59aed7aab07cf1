import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { gitHubSettingsSchema, optionalGitHubConfig } from "./github.config.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const settings = {
  GITHUB_APP_ID: "1",
  GITHUB_APP_SLUG: "towpath",
  GITHUB_APP_PRIVATE_KEY: pem,
  GITHUB_CLIENT_ID: "Iv1.x",
  GITHUB_CLIENT_SECRET: "secret",
  GITHUB_WEBHOOK_SECRET: "sixteen letters!",
};

test("GH-1 the private key may be PEM, PEM with escaped line breaks, or base64 of it", () => {
  for (const value of [pem, pem.replaceAll("\n", "\\n"), Buffer.from(pem).toString("base64")]) {
    const config = optionalGitHubConfig.parse({ ...settings, GITHUB_APP_PRIVATE_KEY: value });
    expect(config?.privateKey).toBe(pem);
    expect([config?.url, config?.apiUrl]).toEqual(["https://github.com", "https://api.github.com"]);
  }
});

test("GH-1 all invalid settings are reported at once, without quoting a secret", () => {
  const parsed = gitHubSettingsSchema.safeParse({
    ...settings,
    GITHUB_APP_PRIVATE_KEY: "not-a-key",
    GITHUB_WEBHOOK_SECRET: "short",
    GITHUB_APP_SLUG: "A B",
  });
  const text = JSON.stringify(parsed.error?.issues);
  expect(parsed.error?.issues.map(({ path }) => path[0]).sort()).toEqual([
    "GITHUB_APP_PRIVATE_KEY",
    "GITHUB_APP_SLUG",
    "GITHUB_WEBHOOK_SECRET",
  ]);
  expect(text).not.toContain("not-a-key");
});

test("GH-5 an environment names an App with all of its settings, or none", () => {
  expect(optionalGitHubConfig.parse(process.env)).toBeNull();
  expect(optionalGitHubConfig.parse({ PATH: "/bin", GITHUB_URL: "https://github.example.com" })).toBeNull();
  const half = optionalGitHubConfig.safeParse({ GITHUB_APP_ID: "1", GITHUB_APP_SLUG: "towpath" });
  const missing = half.error?.issues.map(({ path }) => path[0]);
  expect(missing).toEqual([
    "GITHUB_APP_PRIVATE_KEY",
    "GITHUB_CLIENT_ID",
    "GITHUB_CLIENT_SECRET",
    "GITHUB_WEBHOOK_SECRET",
  ]);
});
