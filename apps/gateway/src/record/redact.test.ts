import { unchanged } from "@towpath/secrets/redaction";
import { expect, test } from "vitest";
import { captureBytes, captureOf, redactedText, withheld } from "./redact.ts";

const capture = (json: string) => captureOf(Buffer.from(json), Buffer.byteLength(json), unchanged);
const redact = (value: unknown) => capture(JSON.stringify(value)).payload;

test("GW-7 sealed state, answers and secrets are never kept, in any form and at any depth", () => {
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

test("GW-7 the beginning of a large payload is kept and marked, with its secrets replaced", () => {
  const text = "x".repeat(captureBytes);
  const { payload, isTruncated } = capture(JSON.stringify({ token: "t", list: [{ password: "p", text }, 2], end: 1 }));
  expect(isTruncated).toBe(true);
  expect(payload).toEqual({ token: "[redacted]", list: [{ password: "[redacted]", text: expect.any(String) }] });
  const kept = (payload as { list: [{ text: string }] }).list[0].text;
  expect(kept).toMatch(/^x+…$/);
  expect(kept.length).toBeGreaterThan(captureBytes / 2);
  const secret = capture(JSON.stringify({ first: 1, password: text }));
  expect(secret).toEqual({ payload: { first: 1, password: "[redacted]" }, isTruncated: true });
});

test("GW-7 payloads that are not JSON are left out", () => {
  expect(capture("{").payload).toBeNull();
  expect(capture(`nonsense ${"x".repeat(captureBytes)}`)).toEqual({ payload: null, isTruncated: true });
  expect(captureOf(null, 0, unchanged).payload).toBeNull();
  let deep: unknown = "secret inside";
  for (let at = 0; at < 500; at++) deep = [deep];
  expect(JSON.stringify(redact(deep))).not.toContain("secret inside");
});

test("KEY-4 without the values of variables nothing is kept of a payload but that it was there", () => {
  expect(captureOf(Buffer.from("{}"), 2, null)).toEqual({ payload: withheld, isTruncated: false });
  expect(captureOf(null, 0, null)).toEqual({ payload: null, isTruncated: false });
  expect([redactedText("text", null), redactedText(null, null)]).toEqual([withheld, null]);
});
