import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoundedRedactor, createRedactor } from "./redactor.ts";

const value = "s3cr3t/välue+with ~all~ & \"sorts\"?\n'of' characters";

test("KEY-4 secret values are replaced by their names, longest first, except those of fewer than six characters", () => {
  const { text } = createRedactor({
    TOKEN: "abcdef",
    LONG_TOKEN: "abcdefghi",
    MODE: "prod",
    KEY: "line-one\nline-two",
  });
  expect(text("abcdef abcdefghi prod abcdefabcdef")).toBe("[TOKEN] [LONG_TOKEN] prod [TOKEN][TOKEN]");
  expect(text("x line-two y")).toBe("x [KEY] y");
  expect(text("")).toBe("");
  expect(createRedactor({ MODE: "prod" }).text("prod")).toBe("prod");
});

test("KEY-4 values that overlap are replaced together, however many there are", () => {
  const { text } = createRedactor({ FIRST: "abcdefgh", SECOND: "efghijkl", INNER: "bcdefg" });
  expect(text("xabcdefghijkly")).toBe("x[FIRST]y");
  expect(text("bcdefgh")).toBe("[INNER]h");
  expect(createRedactor({ A: "aaaaaaaa" }).text(`b${"a".repeat(1000)}c`)).toBe("b[A]c");
});

const encodings: [string, (text: string) => string][] = [
  ["as it is", (text) => text],
  ["a string of JSON", (text) => JSON.stringify({ text })],
  ["JSON in a string of JSON", (text) => JSON.stringify({ text: JSON.stringify({ text }) })],
  ["base64", (text) => Buffer.from(text).toString("base64")],
  ["base64url", (text) => Buffer.from(text).toString("base64url")],
  [
    "base64 in lines",
    (text) =>
      (
        Buffer.from(text)
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\n"),
  ],
  ["hex", (text) => Buffer.from(text).toString("hex")],
  ["upper-case hex", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["encodeURIComponent", encodeURIComponent],
  ["a form", (text) => new URLSearchParams({ text }).toString()],
  ["upper case", (text) => text.toUpperCase()],
  ["lower case", (text) => text.toLowerCase()],
  ["a name of an environment in upper case", (text) => `KEY_${JSON.stringify(text).toUpperCase()}`],
  ["lower-case percent-encoding", (text) => encodeURIComponent(text).replace(/%../g, (octet) => octet.toLowerCase())],
];

test.each(encodings)("KEY-4 a value is found as %s", (_how, encode) => {
  fc.assert(
    fc.property(fc.string({ minLength: 12, maxLength: 300, unit: "grapheme" }), (random) => {
      // Digits at both ends: redaction ignores blanks around a value.
      const secret = `1${random}2`;
      const shown = createRedactor({ SECRET: secret }).text(`before ${encode(secret)} after`);
      expect(shown).toContain("[SECRET]");
      expect(shown).toMatch(/^before .* after$/s);
      // At most the edges of an encoding that depend on nothing of the value are left.
      expect(shown.replace(/\[SECRET\]/g, "").length).toBeLessThan("before  after".length + 40);
    }),
  );
});

test("KEY-4 a value in the middle of a text in base64 is found at each alignment", () => {
  for (const before of ["", "x", "xx", "xxx", "user:"]) {
    for (const encoding of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${before}${value} and more`).toString(encoding);
      const shown = createRedactor({ SECRET: value }).text(encoded);
      const rest = shown.replace("[SECRET]", "");
      expect(shown, `${before} ${encoding}`).toContain("[SECRET]");
      // A character of base64 shows at most six bits; two at each end may share bits with the value.
      expect(Buffer.byteLength(rest)).toBeLessThan(Math.ceil(((before.length + " and more".length) * 4) / 3) + 6);
    }
  }
});

test("KEY-4 redaction does not depend on how the text is cut into chunks", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "-", "+"), minLength: 6, maxLength: 20 });
  const texts = fc.array(fc.oneof(letters, fc.constant(" "), fc.string()), { maxLength: 20 });
  const property = fc.property(
    fc.array(letters, { minLength: 1, maxLength: 6 }),
    texts,
    fc.array(fc.nat(9)),
    (values, parts, cuts) => {
      const redactor = createRedactor(Object.fromEntries(values.map((each, index) => [`V${index}`, each])));
      // The values themselves too, whole and cut.
      const text = [...parts, ...values, ...values.map((each) => each.slice(2)), ...parts].join("");
      const stream = redactor.stream();
      let shown = "";
      let from = 0;
      for (const cut of cuts) {
        shown += stream.push(text.slice(from, from + cut));
        from += cut;
      }
      shown += stream.push(text.slice(from)) + stream.end();
      expect(shown).toBe(redactor.text(text));
      for (const each of values) expect(shown.replace(/\[V\d\]/g, "\0")).not.toContain(each);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test("KEY-4 a value is found in any mixture of cases, also where upper case is longer, and the rest of the text keeps its case", () => {
  const { text } = createRedactor({ TOKEN: "sk-Live-aB3xY9", STREET: "großer weg", CITY: "Kraków ΟΔΟΣ" });
  expect(text("A SK-LIVE-AB3XY9 b sk-live-ab3xy9 C Sk-lIvE-Ab3Xy9")).toBe("A [TOKEN] b [TOKEN] C [TOKEN]");
  expect(text("GROSSER WEG, Großer Weg, KRAKÓW οδος")).toBe("[STREET], [STREET], [CITY]");
});

test("KEY-4 a stream holds back only text that may become a value", () => {
  const stream = createRedactor({ TOKEN: "abcdefgh" }).stream();
  expect(stream.push("before abc")).toBe("before ");
  expect(stream.push("de")).toBe("");
  expect(stream.push("xyz abcdef")).toBe("abcdexyz ");
  expect(stream.push("gh.")).toBe("[TOKEN].");
  expect(stream.end()).toBe("");
});

test("KEY-4 if a text was cut within a value, at most 15 characters of it are shown", () => {
  const { text } = createRedactor({ TOKEN: "0123456789abcdefghij" });
  expect(text("at 0123456789abcde")).toBe("at 0123456789abcde");
  expect(text("at 0123456789abcdef")).toBe("at [TOKEN]");
});

test("KEY-4 in a JSON value, strings, numbers and names of members are redacted, and its shape stays", () => {
  const { json } = createRedactor({ PIN: "12345678", TOKEN: "abcdefgh" });
  const payload = { pin: 12_345_678, abcdefgh: [true, null, 1.5, "x abcdefgh"], "nested\n": { deep: "abcdefg" } };
  expect(json(payload)).toEqual({
    pin: "[PIN]",
    "[TOKEN]": [true, null, 1.5, "x [TOKEN]"],
    "nested\n": { deep: "abcdefg" },
  });
});

test("KEY-4 in a JSON value whose end is missing, the cut string shows at most 15 characters of a value", () => {
  const { json } = createRedactor({ TOKEN: "0123456789abcdefghij", DOTS: "dots at the end…" });
  expect(json({ a: "at 0123456789abcdef…" })).toEqual({ a: "at 0123456789abcdef…" });
  expect(json({ a: "at 0123456789abcdef…" }, true)).toEqual({ a: "at [TOKEN]…" });
  expect(json(["at 0123456789abcde…", "dots at the end…"], true)).toEqual(["at 0123456789abcde…", "[DOTS]"]);
});

test("KEY-4 a redactor reports its size in memory, and none is created beyond a limit", async () => {
  const values = { TOKEN: "0123456789abcdefghij" };
  const { bytes } = createRedactor(values);
  expect(bytes).toBeGreaterThan(20 * 24);
  expect((await createBoundedRedactor(values, bytes))?.text("0123456789abcdefghij")).toBe("[TOKEN]");
  expect(await createBoundedRedactor(values, bytes - 1)).toBeNull();
  expect((await createBoundedRedactor({}, 0))?.text("text")).toBe("text");
});

test("KEY-4 large values are prepared in slices, between which other things are done", async () => {
  const value = Array.from({ length: 12_000 }, (_, at) => at)
    .join("-")
    .slice(0, 64 * 1024);
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const redactor = await createBoundedRedactor({ LARGE: value }, 64 * 1024 * 1024);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(2);
  expect(redactor?.text(`<${value}>`)).toBe("<[LARGE]>");
});

test("KEY-4 searching takes a time in proportion to the text, even for values made to be slow", () => {
  const values = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`V${index}`, `${"a".repeat(1000)}${index}b`]),
  );
  const redactor = createRedactor(values);
  const long = "a".repeat(400_000);
  const started = performance.now();
  // None of them ends: each character continues all of them.
  expect(redactor.text(`${long} `)).toBe(`${long} `);
  // Trying every value at every position would take 20 thousand million comparisons.
  expect(performance.now() - started).toBeLessThan(10_000);
});
