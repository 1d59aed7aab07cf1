import { expect, test } from "vitest";
import { captureBytes, redactedPayload } from "./redact.ts";

const redact = (value: unknown) => redactedPayload(Buffer.from(JSON.stringify(value)));

test("GW-7 sealed state, answers and secrets are never kept, whatever their form and depth", () => {
  expect(
    redact({
      params: {
        requestState: { sealed: 1 },
        inputResponses: [{ text: "private" }],
        arguments: {
          Authorization: "Bearer x",
          list: [{ client_secret: "s", apiKey: "k", Password: ["p"] }],
          maxTokens: 5,
          text: "kept",
        },
        _meta: { progressToken: 7 },
      },
    }),
  ).toEqual({
    params: {
      requestState: "[redacted]",
      inputResponses: "[redacted]",
      arguments: {
        Authorization: "[redacted]",
        list: [{ client_secret: "[redacted]", apiKey: "[redacted]", Password: "[redacted]" }],
        maxTokens: 5,
        text: "kept",
      },
      _meta: { progressToken: 7 },
    },
  });
});

test("GW-7 a schema that describes a password is no password", () => {
  const schema = { inputSchema: { properties: { password: { type: "string" } } } };
  expect(redact(schema)).toEqual(schema);
  const value = { arguments: { credentials: { type: "basic", pass: "p" } } };
  expect(redact(value)).toEqual({ arguments: { credentials: "[redacted]" } });
});

test("GW-7 what is too big or no JSON is left out", () => {
  expect(redact("x".repeat(captureBytes))).toBeNull();
  expect(redactedPayload(Buffer.from("{"))).toBeNull();
  expect(redactedPayload(null)).toBeNull();
  let deep: unknown = "secret inside";
  for (let at = 0; at < 500; at++) deep = [deep];
  expect(JSON.stringify(redact(deep))).not.toContain("secret inside");
});
