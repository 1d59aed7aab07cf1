/** A text to search for, and its replacement. */
export type Needle = { readonly text: string; readonly name: string };

/** Finds many texts at once, in a time that depends on neither their number nor their length (Aho and Corasick, 1975). */
export type Automaton = {
  /** The state after a further character (a UTF-16 code unit). States begin with 0. */
  next(state: number, code: number): number;
  /** How many of the last characters are the beginning of a needle. */
  depth(state: number): number;
  /** The longest needle that ends here. */
  match(state: number): { readonly length: number; readonly name: string } | null;
  /** The name of a needle that begins with the last `depth` characters. */
  nameOf(state: number): string;
};

/**
 * Case folding of code units, so that one needle finds all forms: upper case counts as lower case, which logs and names
 * of tools change, and the alphabet of base64url as that of base64.
 */
const folds = Uint16Array.from({ length: 0x1_0000 }, (_, code) => {
  const upper = String.fromCharCode(code).toUpperCase();
  const lower = (upper.length === 1 ? upper : String.fromCharCode(code)).toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
});
folds["-".charCodeAt(0)] = "+".charCodeAt(0);
folds["_".charCodeAt(0)] = "/".charCodeAt(0);

const folded = (code: number): number => folds[code] ?? code;

/** Whether two texts are equal after folding. */
export function countAsSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1)
    if (folded(one.charCodeAt(at)) !== folded(other.charCodeAt(at))) return false;
  return true;
}

/** Codes below this find the root's child by index: most characters of a text fall back to the root. */
const indexed = 256;

/** Characters or nodes that a step of the building processes in about a millisecond. */
const perStep = 8192;

/**
 * Builds the automaton; about 24 bytes for each character of the needles. No library that we know keeps its state
 * between two pieces of a text, on which redaction across chunks depends.
 */
export function createAutomaton(needles: readonly Needle[]): Automaton {
  const steps = buildAutomaton(needles);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in steps of about a millisecond, between which the caller can do something else. */
export function* buildAutomaton(needles: readonly Needle[]): Generator<void, Automaton> {
  const trie = new Trie(needles.reduce((sum, { text }) => sum + text.length, 1));
  for (const [index, needle] of needles.entries()) yield* trie.add(needle.text, index);
  yield* trie.link();
  return {
    next: (state, code) => trie.next(state, folded(code)),
    depth: (state) => trie.depth[state] ?? 0,
    match(state) {
      const end = trie.match[state] ?? 0;
      return end === 0 ? null : { length: trie.depth[end] ?? 0, name: needles[trie.ends[end] ?? 0]?.name ?? "" };
    },
    nameOf: (state) => needles[trie.passes[state] ?? 0]?.name ?? "",
  };
}

/** Nodes are numbers, the root is 0; what belongs to a node is in arrays, so that large values cost no objects. */
class Trie {
  readonly depth: Int32Array;
  /** Index of the needle that ends at the node; -1 for none. */
  readonly ends: Int32Array;
  /** Index of the first needle that passes the node. */
  readonly passes: Int32Array;
  /** The longest suffix of the node's text that is a needle; 0 for none. */
  readonly match: Int32Array;
  readonly #fail: Int32Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #code: Uint16Array;
  readonly #atRoot = new Int32Array(indexed);
  #size = 1;
  #work = 0;

  constructor(capacity: number) {
    const numbers = () => new Int32Array(capacity);
    this.depth = numbers();
    this.ends = numbers().fill(-1);
    this.passes = numbers();
    this.match = numbers();
    this.#fail = numbers();
    this.#child = numbers();
    this.#sibling = numbers();
    this.#code = new Uint16Array(capacity);
  }

  *add(text: string, index: number): Generator<void, void> {
    let node = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (this.#isStep()) yield;
      const code = folded(text.charCodeAt(at));
      node = this.#childOf(node, code) || this.#grow(node, code, index);
    }
    if (this.ends[node] === -1) this.ends[node] = index;
  }

  /** Sets where each node continues when no child fits, nearest to the root first. */
  *link(): Generator<void, void> {
    const queue = new Int32Array(this.#size);
    let end = 1;
    for (let at = 0; at < end; at += 1) {
      if (this.#isStep()) yield;
      const node = queue[at] ?? 0;
      for (let child = this.#child[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        const fail = node === 0 ? 0 : this.next(this.#fail[node] ?? 0, this.#code[child] ?? 0);
        this.#fail[child] = fail;
        this.match[child] = this.ends[child] === -1 ? (this.match[fail] ?? 0) : child;
        queue[end] = child;
        end += 1;
      }
    }
  }

  next(state: number, code: number): number {
    for (let node = state; ; node = this.#fail[node] ?? 0) {
      const child = this.#childOf(node, code);
      if (child !== 0 || node === 0) return child;
    }
  }

  #isStep(): boolean {
    this.#work += 1;
    return this.#work % perStep === 0;
  }

  #childOf(node: number, code: number): number {
    if (node === 0 && code < indexed) return this.#atRoot[code] ?? 0;
    let child = this.#child[node] ?? 0;
    while (child !== 0 && this.#code[child] !== code) child = this.#sibling[child] ?? 0;
    return child;
  }

  #grow(parent: number, code: number, index: number): number {
    const node = this.#size;
    this.#size += 1;
    this.#code[node] = code;
    this.#sibling[node] = this.#child[parent] ?? 0;
    this.#child[parent] = node;
    this.depth[node] = (this.depth[parent] ?? 0) + 1;
    this.passes[node] = index;
    if (parent === 0 && code < indexed) this.#atRoot[code] = node;
    return node;
  }
}
