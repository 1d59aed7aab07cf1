import { callerWindows } from "./caller-windows.ts";
import { intersectionOf, isWhole, type Locator, type QueryPlan, type RowKey, type Scope } from "./query-plan.ts";
import { findRowKey } from "./row-key.ts";
import { searchWindows } from "./search-windows.ts";
import { seriesWindows } from "./series-windows.ts";

/** Complete plans with at most this many windows are preferred over incomplete ones. */
const maxWindows = 500;
/** Windows in the first statement: most pages need no more. */
const firstBatch = 8;
const growth = 4;
/** Each further plan looks for this many times as many rows. */
const growthOfPlans = 8;

/** Yields plans for a scope's rows, newest first; each covers older rows than the one before. */
export async function* planRows(scope: Scope, count: number): AsyncGenerator<QueryPlan> {
  const key = await findRowKey(scope);
  let { period } = scope;
  for (let target = count; period.from < period.to; target *= growthOfPlans) {
    const plan = await nextPlan({ ...scope, period }, key, target);
    for (let at = 0, size = firstBatch; at < plan.windows.length; at += size, size *= growth)
      yield { ...plan, windows: plan.windows.slice(at, at + size) };
    period = { from: period.from, to: Math.min(period.to, plan.since) };
  }
}

/** Days without an index are read by the periods of their rows. */
async function nextPlan(scope: Scope, key: RowKey | null, count: number): Promise<QueryPlan> {
  const { from, to } = scope.period;
  if (key === null) return locateRows(scope, count);
  if (to <= key.until) return { windows: [scope.period], since: from, key };
  return locateRows({ ...scope, period: { from: key.until, to } }, count);
}

const locators: readonly Locator[] = [callerWindows, searchWindows, seriesWindows];

async function locateRows(scope: Scope, count: number): Promise<QueryPlan> {
  const { period } = scope;
  const found = await Promise.all(locators.map((locate) => locate(scope, count)));
  const plans = found.filter((plan) => plan !== null);
  const whole = plans.filter((plan) => isWhole(plan, period) && plan.windows.length <= maxWindows);
  if (plans.length === 0) return { windows: [period], since: period.from };
  return (whole.length > 0 ? whole : plans).reduce(intersectionOf);
}
