import type { callReplay } from "@towpath/db/schema";
import type { SecretBox } from "@towpath/secrets";
import type { ReplaySetting } from "../../projects/project/replay.schema.ts";
import { type ReplayDocument, type ReplayView, replayDocumentSchema, verdictSchema } from "./replay.schema.ts";

export type ReplayRow = typeof callReplay.$inferSelect;

/** What a replay reported last; null: nothing yet, sealed with a secret that is no longer known, or of another version. */
export function openDocument({ replays }: SecretBox, row: ReplayRow): ReplayDocument | null {
  const text = row.sealed === null ? null : replays.open(row, row.sealed);
  return text === null ? null : replayDocumentSchema.nullable().catch(null).parse(JSON.parse(text));
}

/** `1 call of 1 tool`. */
const amount = ({ calls, tools }: Pick<ReplayView, "calls" | "tools">): string =>
  `${calls.toLocaleString("en")} ${calls === 1 ? "call" : "calls"} of ${tools.toLocaleString("en")} ${tools === 1 ? "tool" : "tools"}`;

/** A replay that has ended, in a few words: `12 calls of 4 tools: 2 different`. */
export function verdictText(row: Pick<ReplayView, "verdict" | "calls" | "different" | "tools">): string {
  if (row.verdict === null || row.calls === 0) return "No calls compared";
  const { different } = row;
  if (different > 0) return `${amount(row)}: ${different.toLocaleString("en")} different`;
  return row.verdict === "different"
    ? `${amount(row)}: different`
    : row.verdict === "same"
      ? `${amount(row)}: same answers`
      : `${amount(row)}: nothing to conclude`;
}

const waitingTexts = {
  waiting: "Calls of production wait to be replayed on this preview.",
  running: "Calls of production are being replayed on this preview.",
  replaced: "A newer commit of the branch was replayed instead.",
} as const;

/** `mayReplay`: whether the person may have calls replayed now. */
export function replayView(
  box: SecretBox,
  row: ReplayRow,
  { setting, mayReplay }: { readonly setting: ReplaySetting; readonly mayReplay: boolean },
): ReplayView {
  const document = openDocument(box, row);
  const verdict = verdictSchema.nullable().catch(null).parse(row.verdict);
  const { calls, different, tools } = row;
  const state = row.state as "waiting" | "running" | "done" | "replaced";
  return {
    state,
    text: state === "done" ? verdictText({ verdict, calls, different, tools }) : waitingTexts[state],
    verdict,
    calls,
    different,
    tools,
    isRequired: setting.isRequired,
    mayReplay,
    requestedAt: row.requestedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
    production: document?.production ?? null,
    remarks: document?.remarks ?? [],
    report: document?.report ?? null,
  };
}

const absentTexts = {
  off: "Calls of production are not replayed on previews: the server's settings don't ask for it.",
  fork: "Nothing of a fork runs against production's data, so its previews get no calls of production.",
  production: "This version is production's own: only previews get its calls.",
  none: "No calls were replayed on this version. They are once a preview of it goes live.",
} as const;

/** The view where there is no replay, and why. */
export const absentReplay = (state: keyof typeof absentTexts, setting: ReplaySetting | null): ReplayView => ({
  state,
  text: absentTexts[state],
  verdict: null,
  calls: 0,
  different: 0,
  tools: 0,
  isRequired: setting?.isRequired ?? false,
  mayReplay: false,
  requestedAt: null,
  endedAt: null,
  production: null,
  remarks: [],
  report: null,
});
