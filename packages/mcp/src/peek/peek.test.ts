import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { decodeHeaderValue, peekRequest, ResponsePeek } from "./index.ts";
import { compileShape, JsonScanner } from "./json-scanner.ts";
import { parseSmall } from "./small-json.ts";
import { bytes, cut, id, json, key, nasty, shuffled } from "./testing/arbitrary.ts";

describe("JsonScanner", () => {
  const shape = compileShape({
    id: true,
    method: true,
    error: { code: true },
    params: { name: true, _meta: { uri: true } },
  });

  test.runIf(isThorough)(
    "GW-7 finds the same as JSON.parse in any JSON, compact or spaced, for any cuts of the bytes",
    () => {
      const texts = fc.oneof(json, fc.dictionary(key, json), fc.array(fc.dictionary(key, json)));
      fc.assert(
        fc.property(
          texts,
          fc.constantFrom(undefined, 2, "\t"),
          fc.array(fc.nat(), { maxLength: 20 }),
          (value, indent, places) => {
            const body = Buffer.from(JSON.stringify(value, null, indent));
            const found: object[] = [];
            const scanner = new JsonScanner(shape, {
              budget: 1e9,
              onMessage: (fields) => found.push(withoutUndefined(fields)),
            });
            for (const part of cut(body, places)) scanner.push(part);
            const parsed = parseSmall(body, shape);
            expect(found).toEqual(parsed?.messages);
            expect(scanner.isBatch).toBe(parsed?.isBatch);
          },
        ),
        { numRuns: 1000 },
      );
    },
  );

  test("GW-9 bytes of any kind never make it throw", () => {
    const pieces = fc.array(fc.constantFrom(...'{}[]",:\\ 1tnid'.split("")));
    fc.assert(
      fc.property(pieces, (parts) => {
        const scanner = new JsonScanner(shape, { budget: 1e9, onMessage: () => {} });
        for (const part of parts) scanner.push(Buffer.from(part));
      }),
    );
  });
});

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

describe("peekRequest", () => {
  test("GW-7 agrees with JSON.parse on id, method, target, version and client in any order of members", () => {
    const message = fc
      .tuple(
        id,
        fc.constantFrom("tools/call", "prompts/get", "resources/read", "tools/list"),
        nasty,
        nasty,
        nasty,
        json,
        json,
      )
      .chain(([anId, method, name, version, client, noise, moreNoise]) =>
        shuffled(
          shuffled(
            fc.constant([
              ["name", name],
              ["uri", name],
              ["arguments", noise],
              [
                "_meta",
                {
                  x: moreNoise,
                  "io.modelcontextprotocol/protocolVersion": version,
                  "io.modelcontextprotocol/clientInfo": { name: client, title: noise, version },
                },
              ],
            ]),
          ).map((params) => [
            ["jsonrpc", "2.0"],
            ["id", anId],
            ["method", method],
            ["params", params],
            ["extra", moreNoise],
          ]),
        ),
      );
    fc.assert(
      fc.property(message, fc.boolean(), (value, spaced) => {
        const body = Buffer.from(JSON.stringify(value, null, spaced ? 2 : undefined));
        const parsed = JSON.parse(body.toString());
        const peek = peekRequest(body);
        expect(peek).toMatchObject({
          kind: "request",
          id: parsed.id,
          method: parsed.method,
          target: parsed.method === "tools/list" ? null : parsed.params.name,
          era: "modern",
          protocolVersion: parsed.params._meta["io.modelcontextprotocol/protocolVersion"],
          clientName: parsed.params._meta["io.modelcontextprotocol/clientInfo"].name,
        });
      }),
    );
  });

  test("GW-7 agrees with JSON.parse on the kind of any JSON object", () => {
    fc.assert(
      fc.property(fc.dictionary(key, json), (value) => {
        const body = bytes(value);
        const parsed = JSON.parse(body.toString());
        const hasId = typeof parsed.id === "string" || typeof parsed.id === "number";
        const hasMethod = typeof parsed.method === "string";
        const expected = hasMethod
          ? hasId
            ? "request"
            : "notification"
          : "result" in parsed || "error" in parsed
            ? "response"
            : "other";
        expect(peekRequest(body).kind).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  test("GW-9 bytes of any kind never make it throw", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (raw) => void peekRequest(Buffer.from(raw))));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'{}[]",:\\ 1tn'.split(""))),
        (parts) => void peekRequest(Buffer.from(parts.join(""))),
      ),
    );
  });

  test("GW-2 recognizes batches and inspects each message", () => {
    const peek = peekRequest(
      bytes([
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add" } },
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: "a", result: {} },
      ]),
    );
    expect(peek.kind).toBe("batch");
    expect(peek.messages.map((message) => [message.kind, message.method, message.target])).toEqual([
      ["request", "tools/call", "add"],
      ["notification", "notifications/initialized", null],
      ["response", null, null],
    ]);
  });

  test("GW-2 reads version and client of a legacy initialize", () => {
    const peek = peekRequest(
      bytes({
        method: "initialize",
        params: { protocolVersion: "2025-06-18", clientInfo: { name: "c", version: "1" } },
        id: 0,
      }),
    );
    expect(peek).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-06-18",
      clientName: "c",
      clientVersion: "1",
      id: 0,
    });
    expect(peekRequest(bytes({ id: 1, method: "tools/list" }), { protocolVersion: "2026-07-28" }).era).toBe("modern");
    expect(peekRequest(bytes({ id: 1, method: "tools/list" }), { protocolVersion: "2025-11-25" }).era).toBe("legacy");
  });

  test("GW-7 identifies the request of a cancellation, by number or text", () => {
    for (const requestId of [7, "7", 0]) {
      const body = bytes({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "x" } });
      expect(peekRequest(body)).toMatchObject({ kind: "notification", cancels: requestId });
    }
    expect(peekRequest(bytes({ id: 1, method: "tools/call", params: { requestId: 7 } })).cancels).toBeNull();
  });

  test("GW-7 the last of two equal members counts, as in JSON.parse", () => {
    const body = '{"method":"a","params":{"name":"x"},"method":"tools/call","params":{"uri":"y"},"id":1}';
    expect(peekRequest(bytes(body))).toMatchObject({ method: "tools/call", target: null });
    expect(peekRequest(bytes('{"\\u006dethod":"tools/list","id":1}')).method).toBe("tools/list");
  });

  test("GW-7 a big body costs bounded work and falls back to headers", () => {
    const dense = `[${"1,".repeat(1_000_000)}1]`;
    const early = peekRequest(bytes(`{"method":"tools/call","params":{"name":"t","arguments":${dense}},"id":1}`));
    expect(early).toMatchObject({ kind: "request", method: "tools/call", target: "t", id: null });
    const late = peekRequest(bytes(`{"params":{"arguments":${dense}},"method":"tools/call","id":1}`), {
      method: "tools/call",
      name: "=?base64?w6k=?=",
    });
    expect(late).toMatchObject({ method: "tools/call", target: "é" });
    // A long string is crossed without counting its bytes one by one.
    const wordy = peekRequest(
      bytes({ params: { arguments: { text: "x".repeat(1_000_000) }, name: "t" }, method: "tools/call", id: 9 }),
    );
    expect(wordy).toMatchObject({ id: 9, target: "t" });
    expect(decodeHeaderValue("plain")).toBe("plain");
  });
});

describe("ResponsePeek", () => {
  const answer = fc
    .tuple(id, json, fc.option(fc.boolean()), fc.option(nasty), fc.option(fc.tuple(fc.integer(), nasty)))
    .chain(([anId, noise, isError, resultType, error]) =>
      shuffled(
        fc.constant<[string, unknown][]>([
          ["jsonrpc", "2.0"],
          ["id", anId],
          error
            ? ["error", { data: noise, code: error[0], message: error[1] }]
            : [
                "result",
                {
                  content: noise,
                  ...(isError === null ? {} : { isError }),
                  ...(resultType === null ? {} : { resultType }),
                  deep: { isError: noise },
                },
              ],
        ]),
      ),
    );

  test("GW-7 agrees with JSON.parse however the bytes are cut", () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(), { maxLength: 20 }), (value, places) => {
        const body = bytes(value);
        const parsed = JSON.parse(body.toString());
        const peek = new ResponsePeek({ ids: [parsed.id], format: "json" });
        for (const part of cut(body, places)) peek.push(part);
        peek.end({ isWhole: true });
        expect(peek.answers).toMatchObject([
          {
            id: parsed.id,
            errorCode: parsed.error?.code ?? null,
            errorMessage: parsed.error?.message ?? null,
            isError: parsed.result?.isError === true,
            resultType: parsed.result?.resultType ?? null,
            protocolVersion: null,
            payload: null,
          },
        ]);
      }),
      { numRuns: 300 },
    );
  });

  test("GW-3 finds the answer in an event stream behind other messages, however lines end and bytes are cut", () => {
    fc.assert(
      fc.property(
        answer,
        json,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 30 }),
        (value, noise, eol, pretty, places) => {
          const parsed = JSON.parse(JSON.stringify(value));
          const lines = (message: unknown) =>
            JSON.stringify(message, null, pretty ? 1 : undefined)
              .split("\n")
              .map((line) => `data: ${line}`);
          const stream = [
            ": ping",
            "",
            "id: 1",
            "retry: 10",
            "",
            ...lines({ jsonrpc: "2.0", id: parsed.id, method: "sampling/createMessage", params: noise }),
            "",
            "event: message",
            ...lines({ jsonrpc: "2.0", method: "notifications/progress", params: noise }),
            "",
            ...lines(value),
            "",
            "",
          ].join(eol);
          const peek = new ResponsePeek({ ids: [parsed.id], format: "sse" });
          for (const part of cut(Buffer.from(stream), places)) peek.push(part);
          peek.end({ isWhole: true });
          expect(peek.answers.length).toBe(1);
          expect(peek.answers[0]).toMatchObject({
            id: parsed.id,
            errorCode: parsed.error?.code ?? null,
            isError: parsed.result?.isError === true,
          });
          expect(peek.resumable).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("GW-3 fields that only begin like data or id are neither, and a byte order mark may come first", () => {
    const message = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, result: {} });
    const stream = [
      `\ufeffdata: ${message(1)}`,
      "",
      `data2: ${message(2)}`,
      `database: ${message(2)}`,
      ` data: ${message(2)}`,
      "identity: 7",
      "dat",
      "data",
      "",
      `data:${message(3)}`,
      "",
      "",
    ].join("\n");
    for (let at = 0; at <= Buffer.byteLength(stream); at++) {
      const peek = new ResponsePeek({ ids: null, format: "sse" });
      for (const part of cut(Buffer.from(stream), [at])) peek.push(part);
      peek.end({ isWhole: true });
      expect({ ids: peek.answers.map(({ id }) => id), resumable: peek.resumable }).toEqual({
        ids: [1, 3],
        resumable: false,
      });
    }
  });

  test("GW-7 ignores the answer to another request, takes an error without id", () => {
    const other = new ResponsePeek({ ids: [1], format: "json" });
    other.push(bytes({ id: "1", result: {} }));
    other.end({ isWhole: true });
    expect(other.answers).toEqual([]);
    const broken = new ResponsePeek({ ids: [1], format: "json" });
    broken.push(bytes({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }));
    broken.end({ isWhole: true });
    expect(broken.answers[0]).toMatchObject({ errorCode: -32700, errorMessage: "Parse error" });
  });

  /** An answer of about `megabytes`, as chunks of 64 KiB, filled with `filler`. */
  function* bigAnswer(megabytes: number, filler: string, isError: boolean): Generator<Buffer> {
    const piece = Buffer.from(filler.repeat(Math.ceil(65_536 / filler.length)));
    const quote = filler === "x" ? '"' : "";
    yield Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"content":[${quote}`);
    for (let at = 0; at < megabytes * 16; at++) yield piece;
    yield Buffer.from(`${quote === "" ? "1" : quote}],"isError":${isError}}}`);
  }

  test.each([
    ["4 MB of numbers", 4, "12,", true],
    ["40 MB of text", 40, "x", true],
    // Beyond the scanned part it is unknown whether the tool failed; but it has answered.
    ["20 MB of numbers", 20, "12,", false],
  ] as const)("GW-7 a big answer is an answer: %s", (_name, megabytes, filler, isError) => {
    for (const format of ["json", "sse"] as const) {
      const peek = new ResponsePeek({ ids: [1], format });
      if (format === "sse") peek.push(Buffer.from("data: "));
      for (const chunk of bigAnswer(megabytes, filler, isError)) peek.push(chunk);
      if (format === "sse") peek.push(Buffer.from("\n\n"));
      peek.end({ isWhole: format === "json" });
      expect(peek.answers).toMatchObject([{ id: 1, errorCode: null, isError }]);
    }
  });

  test("GW-7 an answer that broke off before its end doesn't count, even if most of it has passed", () => {
    const peek = new ResponsePeek({ ids: [1], format: "json" });
    for (const chunk of [...bigAnswer(20, "12,", false)].slice(0, -1)) peek.push(chunk);
    peek.end({ isWhole: false });
    expect(peek.answers).toEqual([]);
  });

  test("GW-7 keeps an answer only when asked to, up to a limit", () => {
    const body = bytes({ id: 1, result: { x: 1 } });
    const small = new ResponsePeek({ ids: [1], format: "json", captureBytes: 100 });
    small.push(body);
    small.end({ isWhole: true });
    expect(small.answers[0]?.payload?.toString()).toBe(body.toString());
    const tight = new ResponsePeek({ ids: [1], format: "sse", captureBytes: 5 });
    tight.push(Buffer.from(`data: ${body}\n\n`));
    tight.end({ isWhole: true });
    expect(tight.answers[0]).toMatchObject({ payload: body.subarray(0, 5), payloadBytes: body.length });
  });

  test("GW-9 bytes of any kind never make it throw", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'data: {}[]",:\\\r\n1'.split(""))),
        fc.constantFrom("json", "sse"),
        (parts, format) => {
          const peek = new ResponsePeek({ ids: [1], format: format as "json" | "sse" });
          for (const part of parts) peek.push(Buffer.from(part));
          peek.end({ isWhole: true });
        },
      ),
    );
  });
});
