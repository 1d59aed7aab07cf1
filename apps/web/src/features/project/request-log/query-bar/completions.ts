import { formatPart, keptValues, type QueryKey, queryKeys } from "@towpath/logs/query-parts";
import { statusValues, tokensOf } from "@towpath/logs/query-text";
import { keptTexts } from "../kept-texts.ts";

/** A value of rows. `detail`: its readable name. */
export type LogValue = { readonly value: string; readonly detail?: string; readonly calls?: number };
/** Values to complete. Those of `status`, `duration` and `kept` are constant. */
export type LogValues = Readonly<Record<Exclude<QueryKey, "status" | "duration" | "kept">, readonly LogValue[]>>;

export type Completion = {
  readonly id: string;
  readonly label: string;
  readonly detail: string | undefined;
  readonly calls: number | undefined;
  /** The whole query after it is chosen. */
  readonly text: string;
  /** Where the caret is then. */
  readonly caret: number;
  /** True for a value: the query can be sent. False for a key, which needs a value. */
  readonly isComplete: boolean;
};

export type CompletionGroup = { readonly label: string; readonly items: readonly Completion[] };

const descriptions: Readonly<Record<QueryKey, string>> = {
  tool: "Name of a tool",
  prompt: "Name of a prompt",
  resource: "URI of a resource",
  method: "MCP method, or a group such as tools/*",
  status: "ok, error, failed or refused",
  client: "Name of a client",
  user: "Person or API key",
  session: "Session id",
  deployment: "Commit",
  branch: "Name of a branch",
  duration: "More or less than a time",
  kept: "State of a kept result",
};
const statusTexts = {
  ok: "Succeeded",
  error: "Failed or refused",
  failed: "Failed, without what the gateway refused",
  refused: "Refused by the gateway",
} as const;

const durations: readonly LogValue[] = [
  { value: ">500ms", detail: "Took longer" },
  { value: ">2s", detail: "Took longer" },
  { value: "<20ms", detail: "Was faster" },
];

const maxShown = 8;
/** Maximum of values whose key wasn't typed. */
const maxGuesses = 5;

/** Completions at the caret: keys, or values of the key before it. */
export function completionsAt(text: string, caret: number, values: LogValues | undefined): CompletionGroup[] {
  const { tokens } = tokensOf(text);
  const token = tokens.find(({ from, to }) => from < caret && caret <= to);
  const place = { text, from: token?.from ?? caret, to: token?.to ?? caret };
  if (token && token.key !== null) {
    const key = queryKeys.find((each) => each === token.key?.toLowerCase());
    return key
      ? groups([
          [
            titleOf(key),
            matching(valuesOf(key, values), token.value, maxShown).map((value) => completed(place, key, value)),
          ],
        ])
      : [];
  }
  const word = token?.value ?? "";
  const keys = queryKeys.filter((key) => key.startsWith(word.toLowerCase()));
  const guesses =
    word.length < 2
      ? []
      : queryKeys.flatMap((key) =>
          matching(valuesOf(key, values), word, maxGuesses).map((value) => completed(place, key, value)),
        );
  return groups([
    ["Filters", keys.map((key) => begun(place, key))],
    ["Values", guesses.slice(0, maxShown)],
  ]);
}

const groups = (all: readonly (readonly [string, readonly Completion[]])[]): CompletionGroup[] =>
  all.flatMap(([label, items]) => (items.length > 0 ? [{ label, items }] : []));

const titleOf = (key: QueryKey) => descriptions[key];

function valuesOf(key: QueryKey, values: LogValues | undefined): readonly LogValue[] {
  if (key === "status") return statusValues.map((value) => ({ value, detail: statusTexts[value] }));
  if (key === "duration") return durations;
  if (key === "kept") return keptValues.map((value) => ({ value, detail: keptTexts[value] }));
  const known = values?.[key] ?? [];
  return key === "method" ? [...known, ...prefixesOf(known)] : known;
}

/** `tools/*` if several methods have this prefix. */
function prefixesOf(methods: readonly LogValue[]): LogValue[] {
  const byPrefix = Map.groupBy(methods, ({ value }) => value.split("/")[0] ?? "");
  return [...byPrefix].flatMap(([prefix, own]) =>
    own.length > 1 ? [{ value: `${prefix}/*`, calls: own.reduce((sum, { calls = 0 }) => sum + calls, 0) }] : [],
  );
}

/** Values that contain a text; those that begin with it come first. */
function matching(values: readonly LogValue[], text: string, max: number): readonly LogValue[] {
  const needle = text.toLowerCase();
  const found = values.filter(
    ({ value, detail }) => value.toLowerCase().includes(needle) || detail?.toLowerCase().includes(needle),
  );
  const begins = (value: LogValue) => (value.value.toLowerCase().startsWith(needle) ? 0 : 1);
  return found.toSorted((a, b) => begins(a) - begins(b)).slice(0, max);
}

type Place = { readonly text: string; readonly from: number; readonly to: number };

function begun(place: Place, key: QueryKey): Completion {
  const before = place.text.slice(0, place.from);
  const text = `${before}${key}:${place.text.slice(place.to)}`;
  const own = { id: key, label: `${key}:`, detail: descriptions[key], calls: undefined };
  return { ...own, text, caret: before.length + key.length + 1, isComplete: false };
}

function completed(place: Place, key: QueryKey, { value, detail, calls }: LogValue): Completion {
  const part = formatPart({ key, value });
  const before = `${place.text.slice(0, place.from)}${part} `;
  const text = `${before}${place.text.slice(place.to).trimStart()}`;
  return { id: `${key} ${value}`, label: part, detail, calls, text, caret: before.length, isComplete: true };
}
