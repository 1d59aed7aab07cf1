export { Bucket } from "./bucket.ts";
export { callLimitSettings, callLimitsFrom } from "./config.ts";
export { forwardedAddress, networkOf, plainAddress } from "./network.ts";
export { type CallLimits, lower, type Rate } from "./rate.ts";
