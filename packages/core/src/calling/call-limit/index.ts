export { type CallLimitView, getCallLimits } from "./call-limit.view.ts";
export { saveCallLimits } from "./save-call-limits.ts";
