import fc from "fast-check";

export const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

/** Cuts a buffer at the given places, so that every boundary is met. */
export function cut(buffer: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (buffer.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((from, index) => buffer.subarray(from, ends[index] ?? buffer.length));
}

export const nasty = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"', "\\", '\\"', "}", "]", "\\u0022", "é\u2028", "𝄞"),
);
export const key = fc.oneof(
  nasty,
  fc.constantFrom("id", "method", "params", "name", "uri", "result", "error", "_meta", "code"),
);
export const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    nasty,
    fc.array(tie("value")),
    fc.dictionary(key, tie("value")),
  ),
})).value;
export const id = fc.oneof(fc.integer(), nasty);
export const shuffled = (entries: fc.Arbitrary<[string, unknown][]>) =>
  entries
    .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
    .map((list) => Object.fromEntries(list));
