import type { KeptState } from "@towpath/logs/schema";

/** The state of the result of a call that may be asked for again (CAP-2). */
export const keptTexts = {
  waiting: "Kept for the client to ask again",
  fetched: "Fetched by asking again",
  expired: "Kept, but nobody asked again",
  unknown: "Nobody saw how the call ended",
  canceled: "Canceled by its client",
  dropped: "Not kept: there was no room",
} as const satisfies Readonly<Record<KeptState, string>>;
