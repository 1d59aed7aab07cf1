// Finds a few members of JSON messages in a stream of bytes without building values. Irrelevant strings are skipped
// with `indexOf`, containers by counting brackets. It never throws and doesn't validate: its results for malformed
// input are unspecified, which is good enough for a log.

import { decodeScalar, decodeString } from "./decode-json.ts";

/** Stands for an object or array where only scalars are kept. */
export const container = Symbol("container");

export type FieldValue = string | number | boolean | null | typeof container;

/** The members found in one message; absent ones are undefined. Of a repeated member, the last one counts. */
export type Fields = Readonly<Record<string, FieldValue | undefined>>;

/**
 * Which members to find: `true` for a value to keep, an object to descend into, `"head"` for a container of which the
 * scanner keeps the first 2 KiB as they came, one character for each byte. Slots are named by dotted paths.
 */
export type Shape = { readonly [key: string]: Shape | true | "head" };

/** A compiled shape. `children`: by key; null for a value to keep. `below`: the slots of all nodes below it. */
export type ShapeNode = {
  readonly key: string;
  readonly slot: string;
  readonly isHead: boolean;
  readonly children: ReadonlyMap<string, ShapeNode> | null;
  readonly below: readonly string[];
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Maximum bytes of a kept string, number or head; the rest is cut off. */
const keptBytes = 2048;

/** Compiles a shape, once per shape. */
export function compileShape(shape: Shape): ShapeNode {
  return compileNode("", "", shape);
}

function compileNode(key: string, slot: string, shape: Shape | true | "head"): ShapeNode {
  const isHead = shape === "head";
  if (isHead || shape === true) return { key, slot, isHead, children: null, below: [] };
  const members = Object.entries(shape).map(([inner, innerShape]) =>
    compileNode(inner, slot === "" ? inner : `${slot}.${inner}`, innerShape),
  );
  return {
    key,
    slot,
    isHead,
    children: new Map(members.map((member) => [member.key, member])),
    below: members.flatMap((member) => [member.slot, ...member.below]),
  };
}

export type ScannerOptions = {
  /** Called at the end of each top-level object: the message itself, or each element of a batch. */
  onMessage: (fields: Fields) => void;
  /** Maximum bytes to scan outside of strings; then the scanner stops permanently. */
  budget: number;
};

type Text = "none" | "key" | "kept" | "skipped";

/** Incremental scanner over the bytes of one JSON text. Create one per text. */
export class JsonScanner {
  readonly #root: ShapeNode;
  readonly #options: ScannerOptions;
  #budget: number;
  /** Whether the text is an array of messages. */
  #batch = false;
  readonly #stack: ShapeNode[] = [];
  #fields: Record<string, FieldValue | undefined> = {};
  /** The member whose value comes next, if it is in the shape. */
  #member: ShapeNode | null = null;
  #expectsKey = false;
  /** Open brackets within a container that is skipped. */
  #skipDepth = 0;
  #string: Text = "none";
  #escaped = false;
  #scalar = false;
  #kept = "";
  /** Where the first bytes of a skipped container are kept; null: nowhere. */
  #headSlot: string | null = null;
  #repeats = false;

  constructor(root: ShapeNode, options: ScannerOptions) {
    this.#root = root;
    this.#options = options;
    this.#budget = options.budget;
  }

  /** Whether the text is a batch; known after its first byte. */
  get isBatch(): boolean {
    return this.#batch;
  }

  /** Whether an object repeats a member of the shape. Exact for well-formed JSON. */
  get hasRepeats(): boolean {
    return this.#repeats;
  }

  /** Whether the budget ran out before the text ended. */
  get isExhausted(): boolean {
    return this.#budget <= 0;
  }

  /** Members found so far in a message that hasn't ended. */
  get unfinished(): Fields | null {
    return this.#stack.length > 0 ? this.#fields : null;
  }

  /**
   * Ends a text that was cut off: calls `onMessage` for an unfinished object, with the beginning of the string at which
   * it was cut.
   */
  cut(): void {
    if (this.#string === "kept") this.#endString();
    if (this.unfinished) this.#options.onMessage(this.unfinished);
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#budget > 0) {
      const from = at;
      if (this.#string !== "none") {
        at = this.#crossString(chunk, at);
        this.#budget -= 1 + ((at - from) >> 5);
      } else {
        at = this.#skipDepth > 0 ? this.#crossContainer(chunk, at) : this.#step(chunk, at);
        this.#budget -= at - from;
      }
      if (this.#headSlot !== null) this.#keepHead(this.#headSlot, chunk, from, at);
    }
  }

  #keepHead(slot: string, chunk: Buffer, from: number, to: number): void {
    const before = this.#fields[slot];
    const head = typeof before === "string" ? before : "";
    const room = keptBytes - head.length;
    this.#fields[slot] = head + chunk.toString("latin1", from, Math.min(to, from + room));
    if (this.#skipDepth === 0 || to - from >= room) this.#headSlot = null;
  }

  #crossContainer(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#string = "skipped";
        return at + 1;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#skipDepth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --this.#skipDepth === 0) return at + 1;
    }
    return chunk.length;
  }

  #crossString(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      this.#keep(chunk, at, at + 1);
      at++;
    }
    while (at < chunk.length) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.length : quote;
      // An odd run of backslashes escapes the next byte. The run can't extend before `at`, where no escape is pending.
      let run = 0;
      while (end - run > at && chunk[end - run - 1] === BACKSLASH) run++;
      const escapes = run % 2 === 1;
      if (quote === -1) {
        this.#keep(chunk, at, end);
        this.#escaped = escapes;
        return end;
      }
      this.#keep(chunk, at, escapes ? end + 1 : end);
      at = end + 1;
      if (!escapes) {
        this.#endString();
        return at;
      }
    }
    return at;
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#string === "skipped" || this.#kept.length >= keptBytes) return;
    this.#kept += chunk.toString("latin1", from, Math.min(to, from + keptBytes - this.#kept.length));
  }

  #endString(): void {
    const string = this.#string;
    this.#string = "none";
    if (string === "skipped") return;
    const text = decodeString(this.#kept);
    this.#kept = "";
    if (string === "kept") {
      if (this.#member) this.#fields[this.#member.slot] = text;
      this.#member = null;
      return;
    }
    this.#member = this.#stack.at(-1)?.children?.get(text) ?? null;
    if (!this.#member) return;
    // A repeated member: the later one replaces the earlier one entirely.
    if (this.#fields[this.#member.slot] !== undefined) this.#repeats = true;
    this.#fields[this.#member.slot] = undefined;
    for (const slot of this.#member.below) this.#fields[slot] = undefined;
  }

  /** Processes one byte outside of strings and skipped containers. */
  #step(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0;
    if (this.#scalar && !isDelimiter(byte)) {
      if (this.#kept.length < keptBytes) this.#kept += String.fromCharCode(byte);
      return at + 1;
    }
    if (this.#scalar) this.#endScalar();
    switch (byte) {
      case QUOTE:
        this.#string = this.#expectsKey ? "key" : this.#member ? "kept" : "skipped";
        this.#expectsKey = false;
        break;
      case COMMA:
        this.#expectsKey = this.#stack.length > 0;
        this.#member = null;
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#open(byte);
        break;
      case CLOSE_OBJECT:
        this.#close();
        break;
      case COLON:
      case CLOSE_ARRAY:
        break;
      default:
        if (byte > 0x20 && this.#member) {
          this.#scalar = true;
          this.#kept = String.fromCharCode(byte);
        }
    }
    return at + 1;
  }

  #open(byte: number): void {
    if (this.#stack.length === 0) {
      if (byte === OPEN_ARRAY && !this.#batch) {
        this.#batch = true;
        return;
      }
      if (byte === OPEN_OBJECT) {
        this.#fields = {};
        this.#stack.push(this.#root);
        this.#expectsKey = true;
        return;
      }
    }
    const member = this.#member;
    this.#member = null;
    if (member) this.#fields[member.slot] = container;
    if (member?.isHead) this.#headSlot = member.slot;
    if (member?.children && byte === OPEN_OBJECT) {
      this.#stack.push(member);
      this.#expectsKey = true;
      return;
    }
    this.#skipDepth = 1;
  }

  #close(): void {
    this.#stack.pop();
    this.#expectsKey = false;
    this.#member = null;
    if (this.#stack.length === 0) this.#options.onMessage(this.#fields);
  }

  #endScalar(): void {
    this.#scalar = false;
    const text = this.#kept;
    this.#kept = "";
    if (this.#member) this.#fields[this.#member.slot] = decodeScalar(text);
    this.#member = null;
  }
}

function isDelimiter(byte: number): boolean {
  return byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte === COLON;
}
