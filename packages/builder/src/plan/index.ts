export type { PlanSettings, SourceFacts } from "./facts.ts";
export { makePlan, type Plan } from "./plan.ts";
export { planSource } from "./plan-source.ts";
