import { expect, test } from "vitest";
import { replayOf } from "./replay.ts";

const call = (params: unknown, method = "tools/call") => ({
  method,
  requestPayload: { jsonrpc: "2.0", id: 1, method, params },
  requestTruncated: false,
});

test("PRJ-20 captured calls of tools and prompts can be replayed, with their arguments", () => {
  const args = { text: "hi", list: [1, { deep: true }] };
  expect(replayOf(call({ name: "echo", arguments: args, _meta: { progressToken: 1 } }))).toEqual({
    tab: "tools",
    name: "echo",
    arguments: args,
    isRedacted: false,
  });
  expect(replayOf(call({ name: "greet" }, "prompts/get"))).toMatchObject({ tab: "prompts", arguments: {} });
});

test("PRJ-20 values that the log redacted are marked", () => {
  for (const text of ["[redacted]", "Bearer [API_KEY]"])
    expect(replayOf(call({ name: "echo", arguments: { nested: [text] } }))?.isRedacted).toBe(true);
  expect(replayOf(call({ name: "echo", arguments: { text: "[a], [1] or []" } }))?.isRedacted).toBe(false);
});

test("PRJ-20 a call that can't be repeated unchanged is not offered", () => {
  const cut = { ...call({ name: "echo", arguments: {} }), requestTruncated: true };
  const unkept = { ...call({}), requestPayload: null };
  const withheld = { ...call({}), requestPayload: "[withheld: no variables]" };
  const batch = { ...call({}), requestPayload: [{ params: { name: "echo" } }] };
  const others = [call({ name: 1 }), call({ name: "echo", arguments: [1] }), call({ name: "x" }, "tools/list")];
  for (const entry of [cut, unkept, withheld, batch, ...others]) expect(replayOf(entry)).toBeNull();
});
