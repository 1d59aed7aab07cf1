import { expect, test } from "vitest";
import { contentBlocks, isWebAddress, jsonOf, looksLikeMarkdown } from "./content-blocks.ts";

const kinds = (result: unknown) => contentBlocks(result).map((block) => block.kind);

test("PRJ-4 results of tools, resources and prompts become blocks", () => {
  const content = [
    { type: "text", text: "hi" },
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource_link", uri: "https://example.com/a", name: "a" },
    { type: "resource", resource: { uri: "echo://x", text: "x" } },
  ];
  expect(kinds({ content })).toEqual(["text", "image", "audio", "link", "resource"]);
  expect(kinds({ contents: [{ uri: "a://b/c.bin", blob: "aGk=" }] })).toEqual(["binary"]);
  const messages = [{ role: "user", content: { type: "text", text: "hello" } }];
  expect(contentBlocks({ messages })).toEqual([{ kind: "text", text: "hello", role: "user" }]);
});

test("PRJ-4 only raster images become data URLs", () => {
  expect(kinds({ content: [{ type: "image", data: "aGk=", mimeType: "image/svg+xml" }] })).toEqual(["binary"]);
  expect(kinds({ content: [{ type: "image", data: "aGk=", mimeType: "text/html" }] })).toEqual(["binary"]);
  expect(kinds({ content: [{ type: "image", data: '"onload="x', mimeType: "image/png" }] })).toEqual(["unknown"]);
});

test("PRJ-4 audio of known types can be played, other types are downloads", () => {
  expect(kinds({ content: [{ type: "audio", data: "aGk=", mimeType: "audio/ogg; codecs=opus" }] })).toEqual(["audio"]);
  expect(kinds({ content: [{ type: "audio", data: "aGk=", mimeType: "audio/x-midi" }] })).toEqual(["binary"]);
});

test.each([
  ["# Title", true],
  ["a **bold** word", true],
  ["- one\n- two", true],
  ["| a | b |\n|---|---|", true],
  ["see [docs](https://a.example)", true],
  ["plain text, 2 * 3 * 4", false],
  ["snake_case_name and #hash", false],
  ["x".repeat(200_000), false],
])("PRJ-4 whether %j is shown as Markdown: %s", (text, expected) => {
  expect(looksLikeMarkdown(text)).toBe(expected);
});

test("PRJ-4 malformed content is shown as is, never thrown", () => {
  expect(kinds({ content: [null, 7, { type: "video" }] })).toEqual(["unknown", "unknown", "unknown"]);
  expect(contentBlocks({ content: "no list" })).toEqual([]);
  expect(contentBlocks(null)).toEqual([]);
});

test("PRJ-4 only http(s) URIs become links", () => {
  expect(isWebAddress("https://example.com/a")).toBe(true);
  for (const uri of ["javascript:alert(1)", "data:text/html,x", "//evil", "https://"]) {
    expect(isWebAddress(uri)).toBe(false);
  }
});

test("PRJ-4 texts that hold JSON are recognized", () => {
  expect(jsonOf(' {"a": 1}')).toEqual({ a: 1 });
  expect(jsonOf("12")).toBeUndefined();
  expect(jsonOf("{broken")).toBeUndefined();
});
