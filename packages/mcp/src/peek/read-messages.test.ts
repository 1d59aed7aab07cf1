import fc from "fast-check";
import { expect, test } from "vitest";
import { readMessages } from "./read-messages.ts";

const call = (name: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
const read = (text: string) => readMessages(Buffer.from(text));

test("GW-15 every message of a body is read, of any size, with escapes, and in any order of its members", () => {
  const one = { isBatch: false, messages: [{ method: "tools/call", name: "drop" }] };
  expect(read(call("drop"))).toEqual(one);
  expect(read(' {"params":{"arguments":{"name":"echo"},"name":"dr\\u006fp"},"m\\u0065thod":"tools\\/call"} ')).toEqual(
    one,
  );
  // Beyond everything that the log looks at: 64 KiB outside of strings, 100 messages.
  const numbers = `[${"0,".repeat(200_000)}0]`;
  expect(read(`{"params":{"arguments":${numbers},"name":"drop"},"method":"tools/call"}`)).toEqual(one);
  const batch = read(`[${`${call("echo")},`.repeat(150)}${call("drop")}]`);
  expect([batch?.isBatch, batch?.messages.length, batch?.messages.at(-1)]).toEqual([true, 151, one.messages[0]]);
});

test("GW-15 bodies that two parsers could read differently are rejected", () => {
  const twice = [
    '{"method":"tools/list","method":"tools/call","params":{"name":"drop"}}',
    '{"method":"tools/call","params":{"name":"echo"},"params":{"name":"drop"}}',
    '{"method":"tools/call","params":{"name":"echo","name":"drop"}}',
    '{"method":"tools/call","params":{"name":"echo","n\\u0061me":"drop"}}',
    '{"method":"tools/call","params":{"name":null,"name":"drop"}}',
    '[{"method":"ping"},{"method":"tools/call","params":{"name":"echo"},"method":"ping"}]',
  ];
  for (const text of twice) expect([text, read(text)]).toEqual([text, null]);
  for (const encoding of ["utf16le", "latin1"] as const) {
    expect(readMessages(Buffer.from(`${call("dröp")}`, encoding)), encoding).toBeNull();
  }
  for (const text of [`\uFEFF${call("drop")}`, '{"method":NaN}', "{method:1}", `[[${call("drop")}]]`, "", "{}{}"]) {
    expect([text, read(text)]).toEqual([text, null]);
  }
});

test("GW-15 members of the same name elsewhere in a message are no repetition", () => {
  const nested =
    '{"method":"tools/call","params":{"name":"echo","arguments":{"name":"a","method":"b"}},"x":{"params":1}}';
  expect(read(nested)).toEqual({ isBatch: false, messages: [{ method: "tools/call", name: "echo" }] });
  expect(read(`[${call("a")},${call("b")}]`)?.messages.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("GW-15 generated bodies are read as JSON.parse reads them", () => {
  const message = fc.record(
    { method: fc.string(), params: fc.oneof(fc.record({ name: fc.string(), x: fc.jsonValue() }), fc.jsonValue()) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(message, (value) => {
      const parsed = JSON.parse(JSON.stringify(value)) as { method?: unknown; params?: { name?: unknown } | null };
      const name = typeof parsed.params === "object" ? parsed.params?.name : undefined;
      expect(read(JSON.stringify(value))?.messages).toEqual([
        { method: parsed.method ?? null, name: typeof name === "string" ? name : null },
      ]);
    }),
  );
});
