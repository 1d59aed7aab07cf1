import { type Automaton, buildAutomaton, createAutomaton, type Needle } from "./automaton.ts";
import { formsOf } from "./forms.ts";

export { withoutSecretMembers } from "./secret-members.ts";

/** A text that was cut within a value shows at most this many characters of it. */
const maxUnfinishedLength = 15;

/** Time without a break. */
const sliceMs = 2;
/** Memory of the automaton and its needles for each character. */
const bytesPerCharacter = 26;

/** Replaces the values of secrets by their names in brackets (KEY-4). Values shorter than 6 characters stay. */
export type Redactor = {
  /** Approximate size in memory. */
  readonly bytes: number;
  /** A whole text. */
  text(text: string): string;
  /**
   * The strings and numbers in a JSON value, including names of members. `isCut`: a string that ends with an ellipsis
   * may have been cut within a value.
   */
  json(value: unknown, isCut?: boolean): unknown;
  /** A text in pieces: the results, concatenated, equal the result of `text` for the whole. */
  stream(): RedactionStream;
};

type RedactionStream = {
  /** Returns the text that can't be part of a value any more; keeps at most as much as the longest form has. */
  push(chunk: string): string;
  /** Returns the rest. */
  end(): string;
};

type Values = Readonly<Record<string, string>>;

/** `values`: by name. Values that are part of others are replaced with them; of equal values the first name counts. */
export function createRedactor(values: Values): Redactor {
  const needles = needlesOf(values);
  return redactorOf(needles, createAutomaton(needles));
}

/** The same for a process with other work meanwhile: large values take a while. Null if it would exceed `maxBytes`. */
export async function createBoundedRedactor(values: Values, maxBytes: number): Promise<Redactor | null> {
  const needles = needlesOf(values);
  if (bytesOf(needles) > maxBytes) return null;
  return redactorOf(needles, await inSlices(buildAutomaton(needles)));
}

async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  let sliceAt = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - sliceAt < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceAt = performance.now();
  }
}

function needlesOf(values: Values): Needle[] {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(values))
    for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
  return [...names].map(([text, name]) => ({ text, name }));
}

const bytesOf = (needles: readonly Needle[]): number =>
  needles.reduce((sum, { text }) => sum + text.length, 0) * bytesPerCharacter;

function redactorOf(needles: readonly Needle[], automaton: Automaton): Redactor {
  if (needles.length === 0) return unchanged;
  const text = (whole: string) => {
    const stream = new Stream(automaton);
    return stream.push(whole) + stream.end();
  };
  return {
    bytes: bytesOf(needles),
    text,
    json: (value, isCut = false) => redactedJson(value, isCut ? (each) => cutText(each, text) : text),
    stream: () => new Stream(automaton),
  };
}

/** For texts without secrets. */
export const unchanged: Redactor = {
  bytes: 0,
  text: (text) => text,
  json: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => "" }),
};

function cutText(whole: string, text: (text: string) => string): string {
  const redacted = text(whole);
  return redacted.endsWith("…") ? `${text(redacted.slice(0, -1))}…` : redacted;
}

function redactedJson(value: unknown, text: (text: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return text(String(value)) === String(value) ? value : text(String(value));
  if (Array.isArray(value)) return value.map((item) => redactedJson(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [text(name), redactedJson(inner, text)]));
}

/** A part of the text to be replaced; `from` and `to` count characters since the stream's beginning. */
type Cover = { readonly from: number; readonly to: number; readonly name: string };

class Stream implements RedactionStream {
  readonly #automaton: Automaton;
  #state = 0;
  /** Characters read so far. */
  #read = 0;
  /** Text that was read and neither returned nor replaced, from `#heldFrom` on. */
  #held = "";
  #heldFrom = 0;
  /** Text before this position belongs to a value whose name was returned already. */
  #replacedTo = 0;
  /** In order, without overlaps. */
  readonly #covers: Cover[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  push(chunk: string): string {
    this.#held += chunk;
    for (let at = 0; at < chunk.length; at += 1) {
      this.#state = this.#automaton.next(this.#state, chunk.charCodeAt(at));
      this.#read += 1;
      const match = this.#automaton.match(this.#state);
      if (match !== null) this.#cover({ from: this.#read - match.length, to: this.#read, name: match.name });
    }
    // Later matches begin here at the earliest.
    return this.#release(this.#read - this.#automaton.depth(this.#state));
  }

  end(): string {
    const unfinished = this.#automaton.depth(this.#state);
    if (unfinished > maxUnfinishedLength)
      this.#cover({ from: this.#read - unfinished, to: this.#read, name: this.#automaton.nameOf(this.#state) });
    this.#state = 0;
    return this.#release(this.#read);
  }

  /** Overlapping values are replaced as one, by the name of the one that begins first; of several, the longest. */
  #cover(found: Cover): void {
    let { from, name } = found;
    for (let last = this.#covers.at(-1); last !== undefined && last.to > from; last = this.#covers.at(-1)) {
      this.#covers.pop();
      if (last.from < from) ({ from, name } = last);
    }
    if (from < this.#replacedTo) this.#replacedTo = found.to;
    else this.#covers.push({ from, to: found.to, name });
  }

  /** Returns the text before `before`, with names for values, and drops it. */
  #release(before: number): string {
    let text = "";
    for (let cover = this.#covers[0]; cover !== undefined && cover.from < before; cover = this.#covers[0]) {
      text += `${this.#take(cover.from)}[${cover.name}]`;
      this.#covers.shift();
      this.#replacedTo = cover.to;
    }
    return text + this.#take(Math.min(before, this.#covers[0]?.from ?? before));
  }

  /** The held text up to a position, without the replaced parts. */
  #take(until: number): string {
    const from = Math.max(this.#heldFrom, Math.min(this.#replacedTo, this.#read));
    if (until <= from) {
      this.#drop(from);
      return "";
    }
    const text = this.#held.slice(from - this.#heldFrom, until - this.#heldFrom);
    this.#drop(until);
    return text;
  }

  #drop(until: number): void {
    this.#held = this.#held.slice(until - this.#heldFrom);
    this.#heldFrom = until;
  }
}
