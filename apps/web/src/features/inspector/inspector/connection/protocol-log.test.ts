import { expect, test } from "vitest";
import { type ProtocolMessage, titleOf, withMessage } from "./protocol-log.ts";

const entry = (text: string) => ({ direction: "sent" as const, time: 1, message: text });

test("PRJ-4 the protocol pane keeps the newest messages, by number and by size", () => {
  let log: readonly ProtocolMessage[] = [];
  for (let at = 0; at < 5; at++) log = withMessage(log, entry(`m${at}`), { messages: 3, size: 97 });
  expect(log.map(({ id, message }) => [id, message])).toEqual([
    [3, "m2"],
    [4, "m3"],
    [5, "m4"],
  ]);
  log = withMessage(log, entry("x".repeat(90)), { messages: 3, size: 97 });
  expect(log.map(({ id }) => id)).toEqual([5, 6]);
  expect(withMessage(log, entry("y".repeat(500)), { messages: 3, size: 97 })).toHaveLength(1);
});

test.each([
  [{ method: "tools/call", id: 1 }, "tools/call"],
  [{ id: 3, result: {} }, "answer 3"],
  [{ id: "a", error: {} }, "error a"],
  ["nonsense", "message"],
])("PRJ-4 a message is named: %j", (message, title) => {
  expect(titleOf(message)).toBe(title);
});
