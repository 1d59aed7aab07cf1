import { align } from "./align.ts";
import { isList, isObject } from "./bound.ts";
import { tokensOf } from "./text.ts";
import type { JsonObject, JsonValue } from "./types.ts";

/** What production's answers have shown of a path, over all calls of a tool. */
export interface PathFacts {
  /** Two answers to one call had different values. */
  varies: boolean;
  /** Two answers to one call had values of different types. */
  typeVaries: boolean;
  /** Two answers to one call had texts that differ in more than times, ids and numbers. */
  textVaries: boolean;
  /** One of two answers to one call lacked it. */
  isOptional: boolean;
  /** Lists: the order, the length and the items of two answers to one call differed. */
  orderVaries: boolean;
  lengthVaries: boolean;
  itemsVary: boolean;
  /** Types, texts and templates of texts that were seen; the last two bounded. */
  readonly types: Set<string>;
  readonly texts: Set<string>;
  readonly templates: Set<string>;
  /** Numbers that were seen, bounded, and how often one was. */
  readonly numbers: Set<number>;
  numberCount: number;
  /** How many texts were seen, and their lengths. */
  textCount: number;
  shortest: number;
  longest: number;
}

/** What production's answers to the calls of one tool have shown. */
export class Learned {
  readonly #facts = new Map<string, PathFacts>();
  /** Ids that production named, bounded. */
  readonly ids = new Set<string>();

  of(path: string): PathFacts {
    const known = this.#facts.get(path);
    if (known !== undefined) return known;
    const flags = { varies: false, typeVaries: false, textVaries: false, isOptional: false };
    const lists = { orderVaries: false, lengthVaries: false, itemsVary: false };
    const seen = { types: new Set<string>(), texts: new Set<string>(), templates: new Set<string>() };
    const facts: PathFacts = {
      ...flags,
      ...lists,
      ...seen,
      numbers: new Set(),
      numberCount: 0,
      textCount: 0,
      shortest: Number.POSITIVE_INFINITY,
      longest: 0,
    };
    this.#facts.set(path, facts);
    return facts;
  }

  /** Takes in the answers of production to one call. */
  learn(answers: readonly JsonValue[], root = ""): void {
    const [first, ...others] = answers;
    for (const answer of answers) this.#observe(root, answer);
    for (const other of others) if (first !== undefined) this.#compare(root, first, other);
  }

  #observe(path: string, value: JsonValue): void {
    const facts = this.of(path);
    facts.types.add(typeOf(value));
    if (isList(value)) for (const item of value) this.#observe(`${path}[]`, item);
    else if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) this.#observe(childPath(path, key), each);
    } else if (typeof value === "string") this.#observeText(path, value);
    else if (typeof value === "number") {
      facts.numberCount += 1;
      if (facts.numbers.size < 1000) facts.numbers.add(value);
    }
  }

  #observeText(path: string, text: string): void {
    const facts = this.of(path);
    facts.textCount += 1;
    facts.shortest = Math.min(facts.shortest, text.length);
    facts.longest = Math.max(facts.longest, text.length);
    const { template, tokens } = tokensOf(text);
    if (facts.texts.size < 200) facts.texts.add(text);
    if (facts.templates.size < 200) facts.templates.add(template);
    for (const { kind, text: id } of tokens) if (kind === "id" && this.ids.size < 20_000) this.ids.add(id);
  }

  #compare(path: string, one: JsonValue, other: JsonValue): void {
    const facts = this.of(path);
    if (isList(one) && isList(other)) this.#compareLists(path, one, other);
    else if (isObject(one) && isObject(other)) this.#compareObjects(path, one, other);
    else if (one !== other) {
      facts.varies = true;
      if (typeOf(one) !== typeOf(other)) facts.typeVaries = true;
      if (typeof one === "string" && typeof other === "string") this.#compareTexts(path, one, other);
    }
  }

  #compareObjects(path: string, one: JsonObject, other: JsonObject): void {
    const [first, second] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
    for (const key of new Set([...first.keys(), ...second.keys()])) {
      const [a, b] = [first.get(key), second.get(key)];
      if (a === undefined || b === undefined) this.of(childPath(path, key)).isOptional = true;
      else this.#compare(childPath(path, key), a, b);
    }
  }

  #compareTexts(path: string, one: string, other: string): void {
    const [a, b] = [tokensOf(one), tokensOf(other)];
    if (a.template !== b.template) this.of(path).textVaries = true;
    else {
      for (const [at, { text }] of a.tokens.entries()) {
        if (text !== b.tokens[at]?.text) this.of(tokenPath(path, at)).varies = true;
      }
    }
  }

  #compareLists(path: string, one: readonly JsonValue[], other: readonly JsonValue[]): void {
    const facts = this.of(path);
    const { pairs, onlyFirst, onlySecond, isReordered } = align(one, other);
    if (isReordered) facts.orderVaries = true;
    if (one.length !== other.length) facts.lengthVaries = true;
    if (onlyFirst.length > 0 || onlySecond.length > 0) facts.itemsVary = true;
    for (const [a, b] of pairs) {
      const [first, second] = [one[a], other[b]];
      if (first !== undefined && second !== undefined) this.#compare(`${path}[]`, first, second);
    }
  }
}

/**
 * Whether numbers that are the same in all answers to one call depend on the call: they are of many values. What changes
 * with time would have changed between two answers, too.
 */
export const isOfCall = ({ varies, numbers, numberCount }: PathFacts): boolean =>
  !varies && numbers.size >= 3 && numbers.size * 5 >= numberCount;

export const typeOf = (value: JsonValue) => (value === null ? "null" : isList(value) ? "list" : typeof value);

export const tokenPath = (path: string, at: number) => `${path}#${at + 1}`;

/** The path of a field. Those whose names are ids, dates or no names at all, such as addresses, share one: `*`. */
export function childPath(path: string, key: string): string {
  const name = isIdentifier(key) && !isIdOrDate(key) ? key : "*";
  return path === "" ? name : `${path}.${name}`;
}

const isIdentifier = (key: string) => /^[\p{L}_$][\p{L}\d_$-]*$/u.test(key);

/** Whether a field's name is an id or a date, which differ from answer to answer. */
export function isIdOrDate(key: string): boolean {
  const [token] = tokensOf(key).tokens;
  return token !== undefined && token.text === key && token.kind !== "number";
}
