import { type ClassValue, clsx } from "clsx";

/**
 * Joins class names. Of two Tailwind classes for the same property, the later one wins: an earlier class is dropped if
 * a later one, under the same condition (`sm:`, `hover:`), sets all of its properties. Works like tailwind-merge, which
 * a test compares for every class in use; that library alone would be a twentieth of a page's script limit.
 */
export function classNames(...values: ClassValue[]): string {
  const text = clsx(values);
  const known = joined.get(text);
  if (known !== undefined) return known;
  const kept = withoutOverridden(text);
  if (joined.size > 2000) joined.clear();
  joined.set(text, kept);
  return kept;
}

const joined = new Map<string, string>();

function withoutOverridden(text: string): string {
  const later: { condition: string; sets: readonly string[] }[] = [];
  const kept: string[] = [];
  for (const name of text.split(/\s+/).reverse()) {
    const { condition, base } = partsOf(name);
    const sets = propertiesOf(base);
    const isOverridden = later.some(
      (each) => each.condition === condition && sets.every((property) => each.sets.includes(property)),
    );
    if (sets.length > 0 && isOverridden) continue;
    if (sets.length > 0) later.push({ condition, sets });
    kept.push(name);
  }
  return kept.reverse().join(" ");
}

/** `sm:hover:p-2!`: the conditions with the mark of importance, and `p-2`. Colons in brackets belong to values. */
function partsOf(name: string) {
  const [condition = ""] = /^(?:(?:\[[^\]]*\]|\([^)]*\)|[^:[(])*:)*/.exec(name) ?? [];
  const rest = name.slice(condition.length);
  const base = rest.replace(/^!|!$/, "");
  return { condition: base === rest ? condition : `${condition}!`, base };
}

const sidesOf: Readonly<Record<string, readonly string[]>> = {
  "": ["t", "r", "b", "l"],
  x: ["r", "l"],
  y: ["t", "b"],
  t: ["t"],
  r: ["r"],
  b: ["b"],
  l: ["l"],
  top: ["t"],
  right: ["r"],
  bottom: ["b"],
  left: ["l"],
};
const cornersOf: Readonly<Record<string, readonly string[]>> = {
  "": ["tl", "tr", "bl", "br"],
  t: ["tl", "tr"],
  r: ["tr", "br"],
  b: ["bl", "br"],
  l: ["tl", "bl"],
  tl: ["tl"],
  tr: ["tr"],
  bl: ["bl"],
  br: ["br"],
};
const axesOf: Readonly<Record<string, readonly string[]>> = { "": ["x", "y"], x: ["x"], y: ["y"] };

type Rule = readonly [pattern: RegExp, properties: (part: string, kind: string) => readonly string[]];
const each = (kind: string, parts: readonly string[] = []) => parts.map((part) => `${kind} ${part}`);
const always =
  (...properties: string[]) =>
  () =>
    properties;

/** The first match counts. Patterns capture a side, corner or axis, and the property. */
const rules: readonly Rule[] = [
  [/^-?(?<kind>[pm])(?<part>[xytrbl]?)-/, (part, kind) => each(kind, sidesOf[part])],
  [/^-?inset(?:-(?<part>[xy]))?-/, (part) => each("at", sidesOf[part])],
  [/^-?(?<part>top|right|bottom|left)-/, (part) => each("at", sidesOf[part])],
  [/^border(?:-(?<part>[xytrbl]))?(?:-\d+)?$/, (part) => each("border", sidesOf[part])],
  [/^rounded(?:-(?<part>[tb][lr]|[trbl]))?(?:-|$)/, (part) => each("rounded", cornersOf[part])],
  [/^(?<kind>gap|overflow|overscroll)(?:-(?<part>[xy]))?-/, (part, kind) => each(kind, axesOf[part])],
  [/^size-/, always("w", "h")],
  [/^(?:flex|block|grid|hidden|contents|table|inline(?:-flex|-block|-grid)?)$/, always("display")],
  [/^line-clamp-/, always("display", "overflow x", "overflow y", "clamp")],
  [/^(?:static|relative|absolute|fixed|sticky)$/, always("position")],
  [/^(?:visible|invisible|collapse)$/, always("visibility")],
  [/^(?:not-)?sr-only$/, always("srOnly")],
  [/^(?:uppercase|lowercase|capitalize|normal-case)$/, always("letterCase")],
  [/^(?:underline|line-through|no-underline)$/, always("line")],
  [/^text-(?:left|right|center)$/, always("alignment")],
  [/^text-(?:pretty|balance|nowrap)$/, always("wrapping")],
  [
    /^text-(?:\[(?:length:|[\d.]+(?:rem|px|em)|clamp\()|(?:base|\d?xs|sm|md|lg|\d?xl)(?:\/|$))/,
    always("fontSize", "leading"),
  ],
  [/^font-(?:normal|medium|semibold|bold)$/, always("weight")],
  [/^flex-(?:row|col)/, always("direction")],
  [/^flex-(?:no)?wrap/, always("rows")],
  [/^flex-/, always("grow", "shrink", "basis")],
  [/^(?<kind>grow|shrink)(?:-|$)/, (_, kind) => [kind]],
  [/^(?:border|divide)-(?:solid|dashed|dotted|none)$/, always("borderStyle")],
  [/^border-(?:collapse|separate)$/, always("collapse")],
  [/^outline-none$/, always("noOutline")],
  [/^outline(?:-\d+)?$/, always("outlineWidth")],
  [/^ring(?:-\d+)?$/, always("ringWidth")],
  [/^shadow(?:-\[|$)/, always("shadowSize")],
  // Everything else that ends in a value.
  [
    /^-?(?<kind>text|font|bg|border|outline-offset|outline|ring|shadow|fill|stroke|decoration|underline-offset|w|h|min-w|min-h|max-w|max-h|basis|leading|tracking|items|self|justify-self|justify|content|cursor|z|opacity|brightness|duration|ease|transition|animate|select|align|object|order|col-span|row-span|row-start|grid-cols|grid-rows|space-x|space-y|translate-x|translate-y|rotate|scale|scroll-m[trbl]|scroll-p[xytrbl]|list|resize|whitespace|break|wrap|pointer-events|appearance|touch|accent)-/,
    (_, kind) => [kind],
  ],
];

/** The properties that a class sets, by our own names; empty for classes that aren't Tailwind's, which always stay. */
function propertiesOf(base: string): readonly string[] {
  for (const [pattern, properties] of rules) {
    const found = pattern.exec(base);
    if (found) return properties(found.groups?.part ?? "", found.groups?.kind ?? "");
  }
  return [];
}
