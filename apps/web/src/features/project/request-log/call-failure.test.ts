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
    frame: null,
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

test("PRJ-20 a raised tool has its exception as headline, with the server's own frame, and no text twice", () => {
  const frame = { file: "server.py", line: 7, name: "parse" };
  const raised = { exception: "ValueError: could not convert string to float: 'four'", frame };
  const errorMessage = "Error calling tool 'total': could not convert string to float: 'four'";
  const failed = { ...toolError, errorMessage };
  const expected = { title: raised.exception, text: null, isTextMissing: false, frame };
  expect(explainFailure(failed, { responsePayload: null }, raised)).toEqual(expected);
  const masked = { ...toolError, errorMessage: "Error calling tool 'total'" };
  expect(explainFailure(masked, undefined, raised)).toEqual({ ...expected, text: masked.errorMessage });
  expect(explainFailure(failed, undefined)).toMatchObject({ title: "The tool returned an error", text: errorMessage });
  // A call that succeeded may have printed a traceback.
  expect(explainFailure(row, undefined, raised)).toBeNull();
});
