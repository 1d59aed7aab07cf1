import fc from "fast-check";

const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * Any character of Unicode, as a unit of strings. Fast-check's own, `binary`, is a map with a million entries, which takes
 * a second to make; then the worker keeps it, which slows all collections of garbage and starts of processes.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates })
  .map((at) => String.fromCodePoint(at < firstSurrogate ? at : at + surrogates));
