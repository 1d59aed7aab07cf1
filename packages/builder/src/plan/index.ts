export type { Dependencies } from "./choose-dependencies.ts";
export { gatherFacts, type PlanSettings, type SourceFacts } from "./facts.ts";
export { makePlan, type Plan, type PlanNote, type ProjectInstall } from "./plan.ts";
