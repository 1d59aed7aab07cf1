import fc from "fast-check";
import { expect, test } from "vitest";
import { ResponsePeek } from "./index.ts";
import { bytes, cut, json, nasty, shuffled } from "./testing/arbitrary.ts";

test("GW-7 the texts of a failed tool are those that JSON.parse finds in its content, for any cuts of the bytes", () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant("text"), text: nasty, annotations: json }),
    fc.record({ type: fc.constant("image"), data: nasty, text: nasty }),
    fc.record({ type: fc.constant("resource"), resource: fc.record({ uri: nasty, text: nasty }) }),
  );
  const failed = fc.tuple(fc.array(block, { maxLength: 4 }), json, fc.boolean()).chain(([content, noise, isError]) =>
    shuffled(
      fc.constant<[string, unknown][]>([
        ["content", content],
        ["structuredContent", { noise, content: [{ type: "text", text: "not this" }] }],
        ["isError", isError],
      ]),
    ).map((result) => ({ jsonrpc: "2.0", id: 1, result })),
  );
  fc.assert(
    fc.property(
      fc.array(failed, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (all, places) => {
        const peek = new ResponsePeek({ ids: null, format: "json" });
        // The head of a container is bounded; what these have is shorter.
        const body = bytes(all.filter((each) => JSON.stringify(each).length < 2000));
        for (const part of cut(body, places)) peek.push(part);
        peek.end({ isWhole: true });
        const expected = (JSON.parse(body.toString()) as typeof all).map(({ result }) => {
          const { content, isError } = result as { content: { type: string; text: string }[]; isError: boolean };
          const texts = content.filter(({ type }) => type === "text").map(({ text }) => text);
          return isError ? texts.join("\n") || null : null;
        });
        expect(peek.answers.map(({ errorMessage }) => errorMessage)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test.each(["json", "sse"] as const)("GW-7 of a failed tool's long text the beginning is kept (%s)", (format) => {
  const text = `é\n"${"long ".repeat(100_000)}`;
  const body = bytes({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }], isError: true } });
  const peek = new ResponsePeek({ ids: [1], format });
  const whole = format === "sse" ? Buffer.from(`data: ${body}\n\n`) : body;
  for (let at = 0; at < whole.length; at += 1000) peek.push(whole.subarray(at, at + 1000));
  peek.end({ isWhole: true });
  const kept = peek.answers[0]?.errorMessage ?? "";
  expect(text.startsWith(kept)).toBe(true);
  expect(kept.length).toBeGreaterThan(1900);
  expect(kept.length).toBeLessThan(2048);
});
