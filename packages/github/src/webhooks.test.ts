import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { parseWebhook, signWebhook, verifyWebhook } from "./webhooks.ts";

const secret = "It's a Secret to Everybody";
const body = Buffer.from("Hello, World!");
/** From GitHub's documentation, "Validating webhook deliveries". */
const documented = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

test("BLD-12 the documented example verifies, as bytes and as text", () => {
  expect(signWebhook(secret, body)).toBe(documented);
  expect(verifyWebhook(secret, body, documented)).toBe(true);
  expect(verifyWebhook(secret, "Hello, World!", documented)).toBe(true);
});

test("BLD-12 a wrong, short, long, missing or older signature does not verify", () => {
  const sha1 = `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`;
  const altered = documented.replace(/7$/, "8");
  for (const signature of [
    altered,
    documented.slice(0, -1),
    `${documented}0`,
    documented.toUpperCase(),
    "",
    null,
    undefined,
    sha1,
    "sha256=",
  ]) {
    expect([signature, verifyWebhook(secret, body, signature)]).toEqual([signature, false]);
  }
});

test("BLD-12 one changed byte, another secret or no secret does not verify", () => {
  expect(verifyWebhook(secret, Buffer.from("Hello, World?"), documented)).toBe(false);
  expect(verifyWebhook("another", body, documented)).toBe(false);
  expect(verifyWebhook("", body, signWebhook("", body))).toBe(false);
});

test("BLD-12 the signature covers the bytes: the same JSON serialized differently does not verify", () => {
  const signature = signWebhook(secret, '{"a":1,"b":"\\u00e9"}');
  expect(verifyWebhook(secret, JSON.stringify(JSON.parse('{"a":1,"b":"\\u00e9"}')), signature)).toBe(false);
});

const repository = {
  id: 7,
  name: "tools",
  full_name: "ada/tools",
  private: false,
  default_branch: "main",
  html_url: "https://github.com/ada/tools",
  owner: { name: "ada", login: "ada" },
};

test("BLD-12 a push names its branch, a tag has none, a deletion is recognized", () => {
  const push = { ref: "refs/heads/feature/x", before: "a", after: "b", head_commit: null, commits: [], repository };
  const parse = (change: object) => parseWebhook("push", JSON.stringify({ ...push, ...change }));
  expect(parse({})).toMatchObject({ event: "push", payload: { branch: "feature/x", deleted: false } });
  expect(parse({ ref: "refs/tags/v1" })).toMatchObject({ payload: { branch: null } });
  expect(parse({ after: "0".repeat(40) })).toMatchObject({ payload: { deleted: true } });
  expect(() => parse({ repository: null })).toThrow();
});

test("BLD-12 unused events are ignored, malformed ones are errors", () => {
  expect(parseWebhook("star", "{}")).toEqual({ event: "ignored", name: "star" });
  expect(parseWebhook("ping", '{"zen":"Keep it logically awesome.","hook_id":1}')).toMatchObject({ event: "ping" });
  expect(() => parseWebhook("push", "{")).toThrow(SyntaxError);
});
