import { expect, test } from "vitest";
import { holdReport } from "./push-report.ts";

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
const end = "0000";
async function passed(chunks: readonly string[], outcome: Promise<string | null>): Promise<string> {
  const parts: string[] = [];
  const output = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  for await (const part of holdReport(output, outcome)) parts.push(part.toString());
  return parts.join("");
}
const inner =
  packet("unpack ok\n") + packet("ok refs/heads/a\n") + packet("option refname b\n") + packet("ng b no\n") + end;
const refused = packet("unpack ok\n") + packet("ng refs/heads/a a b\n") + packet("ng b no\n") + end;

test("SRC-3 progress is passed on at once, a report once it is known whether the push is stored, however it is cut", async () => {
  const text = packet("\x02Resolving") + packet(`\x01${inner}`) + end;
  for (const size of [1, 3, 1000]) {
    const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(await passed(chunks, Promise.resolve(null))).toBe(text);
    expect(await passed(chunks, Promise.resolve("a\nb"))).toBe(
      packet("\x02Resolving") + packet(`\x01${refused}`) + end,
    );
  }
  let decide: (reason: string | null) => void = () => {};
  const output = (async function* () {
    yield Buffer.from(text);
  })();
  const parts = holdReport(
    output,
    new Promise((resolve) => {
      decide = resolve;
    }),
  );
  expect((await parts.next()).value?.toString()).toBe(packet("\x02Resolving"));
  const next = parts.next();
  expect(await Promise.race([next, new Promise((later) => setTimeout(later, 50, "held"))])).toBe("held");
  decide(null);
  expect((await next).value?.toString()).toBe(packet(`\x01${inner}`));
});

test("SRC-3 a report without bands is refused, too; one of thousands of refs is cut into packets; no report stays none", async () => {
  expect(await passed([inner], Promise.resolve("a\nb"))).toBe(refused);
  expect(await passed([end], Promise.resolve("a"))).toBe(end);
  expect(await passed(["no packets"], Promise.resolve(null))).toBe("no packets");
  const many = Array.from({ length: 3000 }, (_, at) => packet(`ok refs/heads/${at}\n`)).join("") + end;
  const halves = [many.slice(0, 40_000), many.slice(40_000)].map((half) => packet(`\x01${half}`));
  const text = await passed([...halves, end], Promise.resolve("no"));
  expect(Number.parseInt(text.slice(0, 4), 16)).toBe(65_520);
  expect(text.match(/ng refs\/heads\/\d+ no/g)?.length).toBeGreaterThan(2990);
});
