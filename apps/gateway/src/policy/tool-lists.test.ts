import fc from "fast-check";
import { expect, test } from "vitest";
import { createAnswerFilter, Withheld } from "./tool-lists.ts";

const allowed = ["echo"];
const json = { "content-type": "application/json" };
const stream = { "content-type": "text/event-stream; charset=utf-8" };

/** A filter's output for these chunks. */
function filtered(headers: Record<string, string>, ...chunks: string[]): string {
  const filter = createAnswerFilter({ listedTools: allowed, change: null }, headers);
  if (!filter) throw new Error("nothing filters this");
  const pieces = chunks.map((chunk) => filter.push(Buffer.from(chunk)));
  return Buffer.concat([...pieces.filter((piece) => piece !== null), filter.end()]).toString();
}

const list = (tools: string, more = "") => `{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools}]${more}}}`;
const tool = (name: string, more = "") => `{"name":"${name}"${more}}`;

test("GW-15 a list keeps the allowed tools with every number as the server wrote it, and its cursor", () => {
  const schema = ',"inputSchema":{"maximum":9223372036854775807,"minimum":-0.0,"multipleOf":1.10,"x":1e400}';
  const more = ',"nextCursor":"2","ttlMs":1000,"_meta":{"tools":["drop"]}';
  const answer = list(`${tool("drop")},${tool("echo", schema)},{"title":"nameless"},${tool("purge")}`, more);
  expect(filtered(json, answer)).toBe(list(tool("echo", schema), more));
  expect(filtered(json, list(tool("drop"), more))).toBe(list("", more));
});

test("GW-15 answers that name no other tool pass byte for byte", () => {
  const kept = [
    ` {"result" : {"tools":[ {"name" : "echo"} ]}, "id":1.0}\n`,
    '{"result":{"content":[{"type":"text","text":"\\"tools\\""}],"structuredContent":{"tools":[{"name":"drop"}]}}}',
    '{"id":1,"error":{"code":-32601,"message":"no tools"}}',
    "",
  ];
  for (const body of kept) expect(filtered(json, body)).toBe(body);
  const events = `: ping\r\n\r\nid: 7\r\nretry: 1\r\ndata:\r\n\r\nevent: message\ndata: ${list(tool("echo"))}\n\n`;
  expect(filtered(stream, events)).toBe(events);
});

test("GW-15 every answer of a batch is filtered", () => {
  const drop = list(tool("drop"));
  expect(filtered(json, `[${drop},${list(tool("echo"))},{"id":2,"result":{}}]`)).toBe(
    `[${list("")},${list(tool("echo"))},{"id":2,"result":{}}]`,
  );
});

test("GW-15 GW-3 events are filtered wherever their bytes are cut, and each goes out at its end", () => {
  const text = [
    "id: 1\r\ndata: \r\n\r\n",
    `: note\nid: 2\nevent: message\ndata: ${list(`${tool("drop")},${tool("echo")}`)}\n\n`,
    'data: {"jsonrpc":"2.0",\rdata: "id":3,\rdata: "result":{"tools":[{"name":"purge"}]}}\r\r',
    'data: {"method":"notifications/tools/list_changed"}\n\n',
  ].join("");
  const expected = [
    "id: 1\r\ndata: \r\n\r\n",
    `: note\nid: 2\nevent: message\ndata: ${list(tool("echo"))}\n\n`,
    'data: {"jsonrpc":"2.0","id":3,"result":{"tools":[]}}\n\n',
    'data: {"method":"notifications/tools/list_changed"}\n\n',
  ].join("");
  expect(filtered(stream, text)).toBe(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      expect(filtered(stream, ...at.slice(1).map((end, i) => text.slice(at[i], end)))).toBe(expected);
    }),
  );
  const filter = createAnswerFilter({ listedTools: allowed, change: null }, stream);
  expect(String(filter?.push(Buffer.from('data: {"a":1}\n\ndata: {"b"')))).toBe('data: {"a":1}\n\n');
});

test("GW-15 an answer that can't be filtered is withheld", () => {
  expect(() =>
    createAnswerFilter({ listedTools: allowed, change: null }, { ...json, "content-encoding": "gzip" }),
  ).toThrow(Withheld);
  expect(() => filtered(json, '{"result":{"tools":[{"name":"drop","x":NaN}]}}')).toThrow(Withheld);
  expect(() => filtered(stream, 'data: {"result":{"tools":[{"name":"drop","x":NaN}]}}\n\n')).toThrow(Withheld);
  const large = "x".repeat(1024 * 1024);
  expect(() => filtered(json, ...Array.from({ length: 9 }, () => large))).toThrow(Withheld);
  expect(() => filtered(stream, ...Array.from({ length: 9 }, () => large))).toThrow(Withheld);
  expect(createAnswerFilter({ listedTools: allowed, change: null }, { "content-type": "text/html" })).toBeNull();
});
