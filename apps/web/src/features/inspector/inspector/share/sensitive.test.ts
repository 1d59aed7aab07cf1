import { expect, test } from "vitest";
import { isSensitive, withoutSecrets } from "./sensitive.ts";

test.each([
  "password",
  "apiKey",
  "api_key",
  "X-Auth-Token",
  "clientSecret",
  "access.token",
  "credentials",
  "privateKey",
  "Authorization",
])("PRJ-4 an argument called %s holds a secret", (name) => {
  expect(isSensitive(name, undefined)).toBe(true);
});

test.each(["text", "city", "keyboard", "tokenize", "secretary", "pinned", "monkey", "max_tokens_used_by"])(
  "PRJ-4 an argument called %s holds none, unless its schema says so",
  (name) => {
    expect(isSensitive(name, { type: "string" })).toBe(name === "max_tokens_used_by");
    expect(isSensitive(name, { type: "string", format: "password" })).toBe(true);
    expect(isSensitive(name, { type: "string", writeOnly: true })).toBe(true);
  },
);

test("PRJ-4 secrets are left out at every depth, and named", () => {
  const schema = { properties: { login: { properties: { user: {}, code: { format: "password" } } } } };
  const args = {
    city: "Oslo",
    login: { user: "ada", code: "1234", password: "p" },
    accounts: [
      { name: "a", token: "t" },
      { name: "b", token: "u" },
    ],
  };
  expect(withoutSecrets(args, schema)).toEqual({
    kept: { city: "Oslo", login: { user: "ada" }, accounts: [{ name: "a" }, { name: "b" }] },
    hidden: ["login.code", "login.password", "accounts.token"],
  });
});
