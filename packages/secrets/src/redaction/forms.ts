import { countAsSame } from "./automaton.ts";

/** Shorter values ("1", "true", "eu") occur everywhere: without them, logs would be unreadable. Characters. */
const minRedactedLength = 6;

/** Longer values are searched for as they are, in JSON and in base64, but not in hex or percent-encoding. */
const maxFullyEncodedLength = 4096;

/** Base64 in lines of 76 (RFC 2045 §6.8), as Python's `encodebytes` and `base64` of coreutils write it. */
const base64Lines = /.{1,76}/g;

/**
 * The texts in which a value is recognized: unchanged, by lines, in JSON strings, in base64 at each of its three
 * alignments, in hex and percent-encoded. Case doesn't count, and `-` and `_` of base64url count as `+` and `/` (see
 * `automaton.ts`).
 */
export function formsOf(value: string): ReadonlySet<string> {
  const text = value.trim().toWellFormed();
  if (text.length < minRedactedLength) return new Set();
  const forms = [text, ...casesOf(text)].flatMap((each) => [each, ...linesOf(each), ...jsonForms(each)]);
  forms.push(...base64Forms(text));
  // White space at the ends matters to encodings.
  if (text !== value) forms.push(...base64Forms(value));
  if (text.length <= maxFullyEncodedLength) forms.push(Buffer.from(text).toString("hex"), ...percentForms(text));
  return new Set(forms.filter((form) => form.length >= minRedactedLength));
}

const linesOf = (text: string) => text.split("\n").map((line) => line.trim());

/** Upper and lower case that folding doesn't cover: of ß, which becomes two letters, and of rare alphabets. */
const casesOf = (text: string) => [text.toUpperCase(), text.toLowerCase()].filter((each) => !countAsSame(each, text));

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const onlyAscii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Also JSON in a string of JSON: a tool's text is often JSON itself. */
function jsonForms(text: string): readonly string[] {
  const once = inJson(text);
  return [once, onlyAscii(once), inJson(once), inJson(onlyAscii(once))];
}

/**
 * The characters that don't depend on what is encoded before and after the value. Base64 encodes three bytes at a time,
 * so there are three positions at which a value can begin.
 */
function base64Forms(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const aligned = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const [first = ""] = aligned;
  return [...aligned, ...(first.match(base64Lines) ?? [])];
}

/** RFC 3986 §2.1. Encoders disagree on which characters they leave. */
function percentForms(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const inForm = new URLSearchParams({ "": text }).toString().slice(1);
  const inQuery = strict.replaceAll("%20", "+");
  return [component, strict, strict.replaceAll("%2F", "/"), inQuery, inForm, encodeURI(text)];
}
