import { medianOf } from "./slower.ts";
import { epochOf } from "./text.ts";

/** A number of one preview answer beside those of production's answers to the same call. */
export interface NumberPair {
  /** Which call, and which of the preview's answers to it. */
  readonly record: number;
  readonly answer: number;
  /** The preview's place in time among its answers. */
  readonly order: number;
  readonly production: readonly number[];
  readonly preview: number;
}

/** Numbers of one path that vary in production. `isTime`: seconds since 1970. */
export interface NumberPath {
  readonly pairs: readonly NumberPair[];
  readonly isTime: boolean;
  /** The last name of the path. */
  readonly name: string;
}

/** What is wrong with numbers that vary, in words, and in which pairs it shows. */
export interface Drift {
  readonly what: string;
  readonly pairs: readonly NumberPair[];
}

/** Names of numbers that depend on the process or its load, of which only the type is compared. */
const ofProcess =
  /(^|_)(took|elapsed|duration|latency|ms|millis|runtime|uptime|cpu|memory|rss|load|pid|seq|counter|requests?_count)(_|$)/;
const snake = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();

/** Names of numbers that each host gives in its own order. */
export const isOfHost = (name: string) => /(^|_)(inode|ino)$/.test(snake(name));
export const isOfProcess = (name: string) => ofProcess.test(snake(name));

/** Seconds by which times may differ. */
const timeSlack = 900;

/**
 * Whether numbers that vary in production are of another size on the preview: outside of what production's own answers
 * vary by, or shifted over all calls, or with other decimals. Null where nothing shows it.
 */
export function driftOf(path: NumberPath): Drift | null {
  const { pairs } = path;
  if (pairs.length === 0) return null;
  if (path.isTime) return shiftOfTimes(pairs);
  const epochs = new Set(pairs.flatMap(({ production }) => production.map(epochOf)));
  const [epoch = null] = epochs;
  if (epochs.size === 1 && epoch !== null) {
    const others = pairs.filter(({ preview }) => epochOf(preview) !== epoch);
    if (others.length > 0) return { what: `no longer a time in ${epoch}`, pairs: others };
    const divisor = epoch === "millis" ? 1000 : 1;
    return shiftOfTimes(pairs, divisor);
  }
  const decimals = changeOfDecimals(pairs);
  if (decimals !== null) return decimals;
  if (isOfProcess(path.name) || isCounter(path)) return null;
  return outliers(pairs) ?? shift(pairs);
}

function shiftOfTimes(pairs: readonly NumberPair[], divisor = 1): Drift | null {
  const known = pairs.filter(({ preview }) => Number.isFinite(preview));
  const sides = known.map(
    (pair) => Math.sign(distanceOf(pair)) * Number(Math.abs(distanceOf(pair)) > timeSlack * divisor),
  );
  const [side = 0] = sides;
  if (side === 0 || sides.some((each) => each !== side)) return null;
  return { what: `${span(Math.abs(distanceOf(known[0])) / divisor)} ${side > 0 ? "later" : "earlier"}`, pairs: known };
}

const span = (seconds: number) =>
  seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`;

/** How far the preview's number lies outside of production's to the same call; 0 within, negative below. */
function distanceOf(pair: NumberPair | undefined): number {
  if (pair === undefined) return 0;
  const [low, high] = [smallestOf(pair.production), largestOf(pair.production)];
  return pair.preview > high ? pair.preview - high : Math.min(0, pair.preview - low);
}

const stepsOf = (values: readonly number[]) => values.slice(1).map((value, at) => value - (values[at] ?? 0));

/**
 * Whether numbers count up from answer to answer to each call, on both servers: each process may begin anywhere. Not before
 * a call was repeated, because a few steps go up by chance.
 */
function isCounter({ pairs }: NumberPath): boolean {
  if (!pairs.some(({ production }) => production.length > 2)) return false;
  const calls = [...Map.groupBy(pairs, ({ record }) => record).values()];
  const steps = calls.flatMap((answers) => {
    const isOne = new Set(answers.map(({ answer }) => answer)).size === answers.length;
    if (!isOne) return answers.flatMap(({ production }) => stepsOf(production));
    const own = answers.toSorted((one, other) => one.order - other.order).map(({ preview }) => preview);
    return [...stepsOf(answers[0]?.production ?? []), ...stepsOf(own)];
  });
  const isWhole = pairs.every(({ production, preview }) => [...production, preview].every(Number.isInteger));
  return steps.length >= (isWhole ? 4 : 6) && steps.every((each) => each > 0);
}

/** Lists of items have more numbers than a function takes as arguments. */
const largestOf = (values: readonly number[]) => values.reduce((most, each) => Math.max(most, each), -Infinity);
const smallestOf = (values: readonly number[]) => values.reduce((least, each) => Math.min(least, each), Infinity);
const rangeOf = (values: readonly number[]) => largestOf(values) - smallestOf(values);
const meanOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);

/** Numbers further outside than production's answers to one call are apart, by size, or by share where that is the rule. */
function outliers(pairs: readonly NumberPair[]): Drift | null {
  const groups = pairs.map(({ production }) => production).filter((values) => values.length > 1);
  const freedom = sum(groups.map((values) => values.length - 1));
  if (freedom === 0) return null;
  const caution = 1.5 * (1 + 8 / freedom);
  const widest = largestOf(groups.map(rangeOf));
  const share = commonShare(groups);
  const isOutside = (pair: NumberPair) => {
    const distance = Math.abs(distanceOf(pair));
    return distance > caution * Math.min(widest, share * Math.abs(meanOf(pair.production)));
  };
  const outside = pairs.filter(isOutside);
  if (outside.length < Math.max(1, pairs.length * 0.15)) return null;
  return { what: wordsFor(outside), pairs: outside };
}

/** The share of their size by which numbers of all sizes vary; infinite where they vary in another way. */
function commonShare(groups: readonly (readonly number[])[]): number {
  const sizes = groups.map((values) => Math.abs(meanOf(values)));
  const smallest = smallestOf(sizes);
  if (groups.length < 6 || smallest === 0 || largestOf(sizes) < 10 * smallest) return Number.POSITIVE_INFINITY;
  const shares = groups.map((values, at) => rangeOf(values) / (sizes[at] ?? 1));
  const largest = largestOf(shares);
  return largest <= 4 * medianOf(shares) ? largest : Number.POSITIVE_INFINITY;
}

/** How many standard errors the mean of the differences must be from nothing. */
const significant = 5;

/** A shift of all numbers that no single one shows. */
function shift(pairs: readonly NumberPair[]): Drift | null {
  const isPositive = pairs.every(({ production, preview }) => preview > 0 && production.every((each) => each > 0));
  const score = (scale: (value: number) => number) => {
    const groups = pairs.map(({ production }) => production.map(scale));
    const freedom = sum(groups.map((values) => values.length - 1));
    if (freedom < 6) return 0;
    const squares = sum(groups.flatMap((values) => values.map((value) => (value - meanOf(values)) ** 2)));
    const variance = squares / freedom;
    const differences = pairs.map(({ preview }, at) => scale(preview) - meanOf(groups[at] ?? []));
    const error = Math.sqrt(sum(groups.map((values) => variance * (1 + 1 / values.length))));
    return error === 0 ? 0 : sum(differences) / error;
  };
  const scores = [score((value) => value), ...(isPositive ? [score(Math.log)] : [])];
  const strongest = scores.find((each) => Math.abs(each) > significant);
  if (strongest === undefined) return null;
  const shifted = pairs.filter((pair) => Math.sign(distanceOf(pair)) === Math.sign(strongest));
  return shifted.length < pairs.length * 0.5 ? null : { what: wordsFor(shifted), pairs: shifted };
}

const units: readonly (readonly [what: string, convert: (value: number) => number])[] = [
  ["°C to °F", (value) => value * 1.8 + 32],
  ["°F to °C", (value) => (value - 32) / 1.8],
  ["a factor of 1000", (value) => value * 1000],
  ["a factor of 1/1000", (value) => value / 1000],
  ["a factor of 100", (value) => value * 100],
  ["a factor of 1/100", (value) => value / 100],
  ["km to miles", (value) => value * 0.6214],
  ["miles to km", (value) => value / 0.6214],
  ["m/s to km/h", (value) => value * 3.6],
  ["km/h to m/s", (value) => value / 3.6],
  ["kg to pounds", (value) => value * 2.2046],
  ["pounds to kg", (value) => value / 2.2046],
  ["m to feet", (value) => value * 3.2808],
  ["feet to m", (value) => value / 3.2808],
  ["a factor of 60", (value) => value * 60],
  ["a factor of 1/60", (value) => value / 60],
];

/** In words how two series differ, such as a change of unit that explains it within a twentieth. */
function wordsFor(pairs: readonly NumberPair[]): string {
  const above = pairs.filter((pair) => distanceOf(pair) > 0).length;
  const fits = (convert: (value: number) => number) =>
    pairs.every(({ production, preview }) => {
      const expected = convert(meanOf(production));
      return Math.abs(preview - expected) <= Math.abs(expected) * 0.05 + Number.EPSILON;
    });
  const unit = units.find(([, convert]) => fits(convert));
  if (unit !== undefined) return `as if the unit changed: ${unit[0]}`;
  return above === pairs.length ? "higher" : above === 0 ? "lower" : "outside of production's range";
}

/** Without what adding in another order leaves in the last digits. */
function decimalsOf(value: number): number {
  const text = String(Number(value.toPrecision(12)));
  return text.includes("e") ? 20 : (text.split(".")[1]?.length ?? 0);
}

/** Numbers with more decimals than production's ever have, or with fewer than nearly all of production's. */
function changeOfDecimals(pairs: readonly NumberPair[]): Drift | null {
  const production = pairs.flatMap((pair) => pair.production.map(decimalsOf));
  const preview = pairs.map((pair) => decimalsOf(pair.preview));
  const [most, mostNow] = [largestOf(production), largestOf(preview)];
  if (production.length >= 4 && most <= 6 && mostNow > most) {
    return { what: "with more decimals", pairs: pairs.filter((pair) => decimalsOf(pair.preview) > most) };
  }
  const share = production.filter((each) => each <= mostNow).length / production.length;
  return mostNow < most && share ** preview.length < 1e-3 ? { what: "with fewer decimals", pairs } : null;
}
