import { align } from "./align.ts";
import type { Answer } from "./answer.ts";
import { canonical, isList, isObject } from "./bound.ts";
import { lastName } from "./last-name.ts";
import { childPath, isIdOrDate, isOfCall, type Learned, tokenPath, typeOf } from "./learn.ts";
import { isOfHost, isOfProcess, type NumberPair } from "./numbers.ts";
import { epochOf, isPrecise, type Token, tokensOf } from "./text.ts";
import type { DifferenceKind, JsonObject, JsonValue } from "./types.ts";

/** A difference of one preview answer from production's to the same call. */
export interface Finding {
  readonly kind: DifferenceKind;
  readonly path: string;
  readonly was: JsonValue | undefined;
  readonly is: JsonValue | undefined;
  readonly counts: boolean;
  /** More than the two values say, in words. */
  readonly detail?: string;
  /** An id that production never named: no difference where all of the path are such, as a process may make its own. */
  readonly isForeignId?: boolean;
}

/** Where ids that production names stayed the same at least once. */
type KnownIds = Set<string>;

/** A number before its call is known. */
type Measured = Omit<NumberPair, "record" | "answer"> & { readonly isTime: boolean };

export interface Judged {
  readonly findings: readonly Finding[];
  /** By path: numbers that vary in production, which only all calls together can judge. */
  readonly numbers: ReadonlyMap<string, readonly Measured[]>;
}

export const errorPath = "error";

/** Compares one answer of the preview with production's to the same call. `now`: seconds since 1970. */
export function judge(
  learned: Learned,
  production: readonly Answer[],
  preview: Answer,
  knownIds: KnownIds,
  now: number,
): Judged {
  const answered = production.filter(({ outcome }) => outcome !== "none");
  const alike = answered.filter(({ outcome }) => outcome === preview.outcome);
  const [first] = answered;
  if (first === undefined) return { findings: [], numbers: new Map() };
  if (alike.length === 0) return { findings: [ofOutcome(first, preview)], numbers: new Map() };
  const comparison = new Comparison(learned, preview.order, knownIds, now);
  const isResult = preview.outcome === "result";
  const data = alike.map((answer) => answer.data);
  comparison.walk(isResult ? "" : errorPath, data, preview.data, false);
  if (isResult && alike.every(({ structured }) => structured !== preview.structured)) {
    const kind = preview.structured ? "added" : "lost";
    comparison.findings.push({
      kind,
      path: "structuredContent",
      was: undefined,
      is: undefined,
      counts: kind === "lost",
    });
  }
  return comparison;
}

function ofOutcome(production: Answer, preview: Answer): Finding {
  const kind = preview.outcome === "none" ? "no-answer" : "error";
  const [was, is] = [production, preview].map(({ outcome, shown }) => (outcome === "result" ? "a result" : shown));
  return { kind, path: "", was, is, counts: true };
}

/** At most this many items of a list that changes are compared with a new one. */
const looseSample = 30;

class Comparison {
  readonly findings: Finding[] = [];
  readonly numbers = new Map<string, Measured[]>();

  readonly learned: Learned;
  readonly order: number;
  readonly knownIds: KnownIds;
  readonly now: number;

  constructor(learned: Learned, order: number, knownIds: KnownIds, now: number) {
    this.learned = learned;
    this.order = order;
    this.knownIds = knownIds;
    this.now = now;
  }

  /** `isLoose`: production's values are of other items of the same list, so only what they have in common is compared. */
  walk(path: string, production: readonly JsonValue[], preview: JsonValue, isLoose: boolean): void {
    const facts = this.learned.of(path);
    const type = typeOf(preview);
    const alike = production.filter((each) => typeOf(each) === type);
    const [before = null] = production;
    if (alike.length === 0) {
      if ((facts.typeVaries || isLoose) && facts.types.has(type)) return;
      const kind = type === "null" || before === null ? "value" : kindAt(path, "type");
      this.#find({ kind, path, was: before, is: preview });
    } else if (isObject(preview)) this.#walkObject(path, alike.filter(isObject), preview, isLoose);
    else if (isList(preview)) this.#walkList(path, alike.filter(isList), preview, isLoose);
    else if (typeof preview === "number") this.#number(path, alike as number[], preview, isLoose);
    else if (typeof preview === "string") this.#text(path, alike as string[], preview, isLoose);
    else if (!alike.includes(preview) && !facts.varies && !isLoose) {
      this.#find({ kind: "value", path, was: before, is: preview });
    }
  }

  #find(finding: Omit<Finding, "counts">): void {
    this.findings.push({ ...finding, counts: true });
  }

  #walkObject(path: string, production: readonly JsonObject[], preview: JsonObject, isLoose: boolean): void {
    const keys = new Set(production.flatMap((each) => Object.keys(each)));
    const lost = [...keys].filter((key) => !Object.hasOwn(preview, key));
    for (const key of lost.filter((each) => !isIdOrDate(each))) {
      const child = childPath(path, key);
      if (this.learned.of(child).isOptional || production.some((each) => !Object.hasOwn(each, key))) continue;
      this.#find({ kind: "lost", path: child, was: production[0]?.[key], is: undefined });
    }
    const variable = (each: JsonObject) => Object.keys(each).filter(isIdOrDate);
    const counts = production.map((each) => variable(each).length);
    const count = variable(preview).length;
    const anyPath = childPath(path, "*");
    if (!counts.includes(count) && !this.learned.of(anyPath).isOptional && !isLoose) {
      this.#find({ kind: "value", path: anyPath, was: `${counts[0]} keys`, is: `${count} keys` });
    }
    for (const [key, value] of Object.entries(preview)) {
      const child = childPath(path, key);
      const before = production.filter((each) => Object.hasOwn(each, key)).map((each) => each[key] as JsonValue);
      if (before.length > 0) this.walk(child, before, value, isLoose);
      else if (isIdOrDate(key)) {
        const others = production.flatMap((each) => variable(each).map((name) => each[name] as JsonValue));
        if (others.length > 0) this.walk(child, others.slice(0, looseSample), value, true);
      } else if (!this.learned.of(child).isOptional) {
        this.findings.push({ kind: "added", path: child, was: undefined, is: value, counts: false });
      }
    }
  }

  #walkList(
    path: string,
    production: readonly (readonly JsonValue[])[],
    preview: readonly JsonValue[],
    isLoose: boolean,
  ): void {
    const facts = this.learned.of(path);
    const lengths = production.map((each) => each.length);
    if (!isLoose && this.#hasOtherLength(facts.lengthVaries, lengths, preview.length)) {
      this.#find({ kind: "value", path, was: `${lengths[0]} items`, is: `${preview.length} items` });
    }
    const aligned = production.map((each) => {
      const { pairs, ...rest } = align(each, preview);
      return { ...rest, places: new Map(pairs.map(([first, second]) => [second, first])) };
    });
    const mayReorder = facts.orderVaries || facts.itemsVary || isLoose;
    if (!mayReorder && aligned.every(({ isReordered }) => isReordered)) {
      this.#find({ kind: "value", path, was: production[0], is: preview, detail: "the same items in another order" });
    }
    const all = production.flat().slice(0, looseSample);
    for (const [index, item] of preview.entries()) {
      const partners = aligned.flatMap(({ places, onlyFirst, onlySecond }, at) => {
        const place = places.get(index);
        // Items without a partner stand for each other in order: one was changed or replaced.
        const instead = facts.itemsVary ? undefined : onlyFirst[onlySecond.indexOf(index)];
        const partner = production[at]?.[place ?? instead ?? -1];
        return partner === undefined ? [] : [partner];
      });
      if (partners.length > 0) this.walk(`${path}[]`, partners, item, isLoose);
      else if (all.length > 0) this.walk(`${path}[]`, all, item, true);
    }
  }

  #hasOtherLength(varies: boolean, lengths: readonly number[], length: number): boolean {
    if (!varies) return !lengths.includes(length);
    return length === 0 ? !lengths.includes(0) : length > 3 * Math.max(...lengths) + 5;
  }

  #number(path: string, production: readonly number[], preview: number, isLoose: boolean): void {
    const facts = this.learned.of(path);
    if (facts.varies || isLoose) this.#addNumber(path, production, preview, false);
    else if (!production.some((each) => isClose(each, preview))) {
      const name = lastName(path);
      if (isOfHost(name) || (isOfProcess(name) && !isOfCall(facts))) return;
      const [before = 0] = production;
      const epoch = epochOf(before);
      const divisor = epoch === "millis" ? 1000 : 1;
      if (epoch !== null && epoch === epochOf(preview) && this.#isOfStart(preview / divisor, before / divisor)) return;
      this.#find({ kind: "value", path, was: before, is: preview });
    }
  }

  #addNumber(path: string, production: readonly number[], preview: number, isTime: boolean): void {
    const pairs = this.numbers.get(path) ?? [];
    if (pairs.length < 200) pairs.push({ order: this.order, production, preview, isTime });
    this.numbers.set(path, pairs);
  }

  /** Whether a time is that of the preview's own start, where production has that of its own. */
  #isOfStart(preview: number, production: number): boolean {
    return preview <= this.now + 60 && preview > this.now - 1800 && production <= this.now + 60;
  }

  #text(path: string, production: readonly string[], preview: string, isLoose: boolean): void {
    const facts = this.learned.of(path);
    const text = tokensOf(preview);
    const alike = production.map(tokensOf).filter(({ template }) => template === text.template);
    if (alike.length > 0) {
      const tokens = alike.map((each) => each.tokens);
      this.#tokens(path, production, tokens, preview, text.tokens, isLoose);
      return;
    }
    if (production.includes(preview)) return;
    const mayDiffer = facts.textVaries || (isLoose && facts.texts.size > 1);
    if (mayDiffer && (facts.texts.has(preview) || facts.templates.has(text.template))) return;
    const isOneOfFew = facts.templates.size <= 10 && facts.textCount >= 5 * facts.templates.size;
    const isOfSize = preview.length >= facts.shortest / 3 && preview.length <= facts.longest * 3 + 20;
    if (mayDiffer && !isOneOfFew && isOfSize) return;
    this.#find({ kind: kindAt(path, "value"), path, was: production[0] ?? "", is: preview });
  }

  /** Compares what may differ in texts of one template. */
  #tokens(
    path: string,
    production: readonly string[],
    before: readonly (readonly Token[])[],
    preview: string,
    tokens: readonly Token[],
    isLoose: boolean,
  ): void {
    let different = false;
    let foreign = 0;
    for (const [at, token] of tokens.entries()) {
      const others = before.flatMap((each) => each[at] ?? []);
      const place = tokenPath(path, at);
      const isSame = others.some(({ text }) => text === token.text);
      const varies = this.learned.of(place).varies || isLoose;
      if (token.kind === "address" || token.kind === "duration") continue;
      if (varies && ["number", "time", "epoch"].includes(token.kind)) {
        this.#addNumber(
          place,
          others.map(({ value }) => value),
          token.value,
          token.kind !== "number",
        );
      }
      if (isSame && token.kind === "id" && !varies) this.knownIds.add(path);
      if (isSame || varies || this.#isTolerated(path, others[0], token)) continue;
      if (token.kind === "id" && !this.learned.ids.has(token.text) && !isDigest(path)) foreign += 1;
      else different = true;
    }
    const finding = { kind: kindAt(path, "value"), path, was: production[0] ?? "", is: preview };
    if (different) this.#find(finding);
    else if (foreign > 0) this.#find({ ...finding, isForeignId: true });
  }

  #isTolerated(path: string, before: Token | undefined, token: Token): boolean {
    if (before === undefined) return false;
    if (token.kind === "number") return isOfProcess(lastName(path)) || isClose(before.value, token.value);
    const isTime = token.kind === "time" || token.kind === "epoch";
    return isTime && isPrecise(token) && isPrecise(before) && this.#isOfStart(token.value, before.value);
  }
}

/** Digests of content, which are the same wherever the content is. */
const isDigest = (path: string) => /hash|sha\d*|digest|checksum|md5|etag/i.test(lastName(path));

const isClose = (one: number, other: number) =>
  Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));

const kindAt = (path: string, kind: DifferenceKind): DifferenceKind =>
  path === errorPath || path.startsWith(`${errorPath}.`) ? "error" : kind;

/** Values as people read them. */
export const shownValue = (value: JsonValue | undefined): string | null =>
  value === undefined ? null : typeof value === "string" ? value : canonical(value);
