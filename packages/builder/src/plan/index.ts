export type { Dependencies } from "./choose-dependencies.ts";
export type { PlanSettings, SourceFacts } from "./facts.ts";
export { makePlan, type Plan, type PlanNote, type ProjectInstall } from "./plan.ts";
export { planSource } from "./plan-source.ts";
