export type { Removal, SweepInput } from "./sweep-parts.ts";
export { sweepRows } from "./sweep-rows.ts";
