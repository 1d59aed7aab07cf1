import { bounded, cut, isEqual, isList, isObject, isTooDeep } from "./bound.ts";
import type { CallAnswer, JsonObject, JsonValue } from "./types.ts";

/** An answer as it is compared, with a bounded size. */
export interface Answer {
  /** How the call ended: `result`, `tool error`, `error CODE` or `none`. */
  readonly outcome: string;
  /** What the tool returned, the text of an error or the reason why there is no answer. */
  readonly data: JsonValue;
  /** Whether the result has `structuredContent`. */
  readonly structured: boolean;
  readonly ms: number;
  /** When it came, counted over all answers of a side. */
  readonly order: number;
  /** The start of it, for people. */
  readonly shown: string;
}

const shownCharacters = 2_000;

/**
 * The answer as it is compared, with about `budget` characters. Data that a result has twice, as `structuredContent` and as
 * text, is compared once; JSON within texts is compared as JSON.
 */
export function answerOf(answer: CallAnswer, order: number, budget: number): Answer {
  const common = { ms: answer.ms, order, structured: false };
  if (answer.kind === "none")
    return { ...common, outcome: "none", data: answer.reason, shown: cut(answer.reason, 500) };
  if (answer.kind === "error") {
    const shown = cut(`Error ${answer.code}: ${answer.message}`, shownCharacters);
    return { ...common, outcome: `error ${answer.code}`, data: bounded(answer.message, budget), shown };
  }
  const { result, isError } = answer;
  if (isTooDeep(result)) return { ...common, outcome: "none", data: tooDeep, shown: tooDeep };
  return {
    ...common,
    outcome: isError ? "tool error" : "result",
    data: bounded(dataOf(result), budget),
    structured: isObject(result.structuredContent),
    shown: shownOf(result),
  };
}

const tooDeep = "The answer is nested too deeply to be compared.";

function shownOf(result: JsonObject): string {
  const { content, structuredContent } = result;
  if (structuredContent !== undefined)
    return cut(JSON.stringify(bounded(structuredContent, shownCharacters)), shownCharacters);
  const texts = isList(content) ? content.map((block) => textOf(block)) : [];
  const isText = texts.length > 0 && texts.every((text) => text !== null);
  if (isText) return cut(texts.map((text) => text.slice(0, shownCharacters)).join("\n"), shownCharacters);
  return cut(JSON.stringify(bounded(result, shownCharacters)), shownCharacters);
}

const textOf = (block: JsonValue) =>
  isObject(block) && block.type === "text" && typeof block.text === "string" ? block.text : null;

/** The value in a text of JSON, or the text. */
function parsed(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: JsonValue = JSON.parse(text);
    return isTooDeep(value) ? text : value;
  } catch {
    return text;
  }
}

function dataOf(result: JsonObject): JsonValue {
  const { content, structuredContent, _meta: _, isError: __, ...rest } = result;
  const blocks = isList(content) ? content : [];
  const texts = blocks.map(textOf);
  const values = texts.every((text) => text !== null) ? texts.map(parsed) : null;
  const data = isObject(structuredContent) ? structuredData(structuredContent, values) : textData(values);
  const others: Record<string, JsonValue> = { ...rest };
  if (data.withContent && blocks.length > 0) others.content = blocks.map(withParsedText);
  if (Object.keys(others).length === 0) return data.value ?? null;
  return data.value === undefined ? others : { result: data.value, ...others };
}

type Data = { readonly value: JsonValue | undefined; readonly withContent: boolean };

function structuredData(structured: JsonObject, texts: readonly JsonValue[] | null): Data {
  const keys = Object.keys(structured);
  const inner = keys.length === 1 && keys[0] === "result" ? structured.result : undefined;
  const value = inner ?? structured;
  if (texts === null) return { value, withContent: true };
  const isSpelling = (text: JsonValue | undefined) => [value, structured].some((each) => isEqual(each, text));
  const isRepeated = texts.length === 0 || isSpelling(texts[0]) || isSpelling(texts);
  const isScalar = !isObject(value) && !isList(value) && texts.length === 1;
  return { value, withContent: !isRepeated && !isScalar };
}

function textData(texts: readonly JsonValue[] | null): Data {
  if (texts === null || texts.length === 0) return { value: undefined, withContent: true };
  if (texts.length === 1) return { value: texts[0], withContent: false };
  return texts.every(isObject) ? { value: texts, withContent: false } : { value: undefined, withContent: true };
}

function withParsedText(block: JsonValue): JsonValue {
  const text = textOf(block);
  return text === null || !isObject(block) ? block : { ...block, text: parsed(text) };
}
