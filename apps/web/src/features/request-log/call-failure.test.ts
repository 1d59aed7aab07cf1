import { expect, test } from "vitest";
import { explainFailure } from "./call-failure.tsx";

const row = { outcome: "ok", httpStatus: 200, errorCode: null, errorMessage: null };
const toolError = { ...row, outcome: "tool_error" };

test("PRJ-20 a tool error shows the tool's own message from the payload", () => {
  const content = [
    { type: "text", text: "No such canal." },
    { type: "text", text: "Try another." },
  ];
  const responsePayload = { jsonrpc: "2.0", id: 1, result: { isError: true, content } };
  expect(explainFailure(toolError, { responsePayload })).toEqual({
    title: "The tool returned an error",
    text: "No such canal.\nTry another.",
    isTextMissing: false,
  });
  expect(explainFailure(toolError, { responsePayload: { truncated: true } })?.text).toContain("payload below");
});

test("PRJ-20 without a payload a tool error says that its message was not kept", () => {
  expect(explainFailure(toolError, { responsePayload: null })).toMatchObject({ isTextMissing: true });
  expect(explainFailure(toolError, undefined)).toMatchObject({ text: null, isTextMissing: false });
});

test("PRJ-20 protocol, gateway and HTTP errors show their message; a call that succeeded shows none", () => {
  const refused = {
    ...row,
    outcome: "gateway_error",
    httpStatus: 403,
    errorCode: -32001,
    errorMessage: "Your role may not call.",
  };
  expect(explainFailure(refused, undefined)).toMatchObject({ title: "Error -32001", text: "Your role may not call." });
  expect(explainFailure({ ...row, outcome: "http_error", httpStatus: 502 }, undefined)?.title).toContain("HTTP 502");
  expect(explainFailure(row, { responsePayload: null })).toBeNull();
});
