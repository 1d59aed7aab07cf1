export { type CallLimitView, callLimitViewSchema, getCallLimits, rateSchema } from "./call-limit.view.ts";
export { saveCallLimits } from "./save-call-limits.ts";
