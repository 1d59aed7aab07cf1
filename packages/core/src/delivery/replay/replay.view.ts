import type { callReplay } from "@towpath/db/schema";
import type { SecretBox } from "@towpath/secrets";
import type { CheckSetting } from "../../projects/project/internal.ts";
import {
  type QuestionReport,
  type ReplayDocument,
  type ReplayView,
  replayDocumentSchema,
  verdictSchema,
} from "./replay.schema.ts";

export type ReplayRow = typeof callReplay.$inferSelect;

/** What a replay reported last; null: nothing yet, sealed with a secret that is no longer known, or of another version. */
export function openDocument({ replays }: SecretBox, row: ReplayRow): ReplayDocument | null {
  const text = row.sealed === null ? null : replays.open(row, row.sealed);
  return text === null ? null : replayDocumentSchema.nullable().catch(null).parse(JSON.parse(text));
}

/** `1 call of 1 tool`. */
const amount = ({ calls, tools }: Pick<ReplayView, "calls" | "tools">): string =>
  `${calls.toLocaleString("en")} ${calls === 1 ? "call" : "calls"} of ${tools.toLocaleString("en")} ${tools === 1 ? "tool" : "tools"}`;

/** Of calls and questions together. */
export function overallVerdict({ isReplayed, report, questions }: ReplayDocument): NonNullable<ReplayView["verdict"]> {
  const calls = isReplayed ? [report?.verdict ?? "inconclusive"] : [];
  const parts = [...calls, ...(questions === null ? [] : [questions.verdict])];
  if (parts.includes("different")) return "different";
  return parts.length === 0 || parts.includes("inconclusive") ? "inconclusive" : "same";
}

type Counts = Pick<ReplayView, "verdict" | "calls" | "different" | "tools">;

/** A replay that has ended, in a few words: `12 calls of 4 tools: 2 different. 3 questions: same choices`. */
export function verdictText(row: Counts, document: ReplayDocument | null): string {
  if (document === null) return callsText(row);
  const { isReplayed, report, questions } = document;
  const calls = isReplayed ? [callsText({ ...row, verdict: report?.verdict ?? null })] : [];
  const parts = [...calls, ...(questions === null ? [] : [questionsText(questions)])];
  return parts.length === 0 ? "Nothing compared" : parts.join(". ");
}

function callsText(row: Counts): string {
  if (row.verdict === null || row.calls === 0) return "No calls compared";
  const { different } = row;
  if (different > 0) return `${amount(row)}: ${different.toLocaleString("en")} different`;
  return row.verdict === "different"
    ? `${amount(row)}: different`
    : row.verdict === "same"
      ? `${amount(row)}: same answers`
      : `${amount(row)}: nothing to conclude`;
}

const choiceTexts = {
  "other-tool": "with another tool",
  "other-arguments": "with other arguments",
  same: "same",
  unstable: "not stable",
  failed: "without an answer",
  "not-asked": "not asked",
} as const satisfies Record<QuestionReport["questions"][number]["state"], string>;

/** `3 questions: 1 with another tool, 2 same`. */
function questionsText({ questions }: QuestionReport): string {
  const amountOf = `${questions.length} ${questions.length === 1 ? "question" : "questions"}`;
  if (questions.every(({ state }) => state === "same")) return `${amountOf}: same choices`;
  const counted = Object.entries(choiceTexts).map(
    ([of, text]) => [questions.filter(({ state }) => state === of).length, text] as const,
  );
  return `${amountOf}: ${counted.flatMap(([count, text]) => (count > 0 ? [`${count} ${text}`] : [])).join(", ")}`;
}

const callTexts = {
  waiting: "Calls of production wait to be replayed on this preview.",
  running: "Calls of production are being replayed on this preview.",
  replaced: "A newer commit of the branch was replayed instead.",
} as const;

/** Where only a model is asked. */
const modelTexts = {
  waiting: "A model will be asked with the tools of this preview.",
  running: "A model is being asked with the tools of this preview.",
  replaced: "A newer commit of the branch was compared instead.",
} as const;

/** `mayReplay`: whether the person may have calls replayed now. */
export function replayView(
  box: SecretBox,
  row: ReplayRow,
  { setting, mayReplay }: { readonly setting: CheckSetting; readonly mayReplay: boolean },
): ReplayView {
  const document = openDocument(box, row);
  const verdict = verdictSchema.nullable().catch(null).parse(row.verdict);
  const { calls, different, tools } = row;
  const state = row.state as "waiting" | "running" | "done" | "replaced";
  return {
    state,
    text:
      state === "done"
        ? verdictText({ verdict, calls, different, tools }, document)
        : (setting.replay === null ? modelTexts : callTexts)[state],
    verdict,
    calls,
    different,
    tools,
    isRequired: setting.replay?.isRequired ?? false,
    mayReplay,
    requestedAt: row.requestedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
    production: document?.production ?? null,
    remarks: document?.remarks ?? [],
    report: document?.report ?? null,
    questions: document?.questions ?? null,
  };
}

const absentTexts = {
  off: "Calls of production are not replayed on previews, and no model is asked questions: the server's settings don't ask for it.",
  fork: "Nothing of a fork runs against production's data, so its previews get no calls of production, and no questions are asked.",
  production: "This version is production's own: only previews get its calls.",
  none: "No calls were replayed on this version. They are once a preview of it goes live.",
} as const;

/** The view where there is no replay, and why. */
export const absentReplay = (state: keyof typeof absentTexts, setting: CheckSetting | null): ReplayView => ({
  state,
  text: absentTexts[state],
  verdict: null,
  calls: 0,
  different: 0,
  tools: 0,
  isRequired: setting?.replay?.isRequired ?? false,
  mayReplay: false,
  requestedAt: null,
  endedAt: null,
  production: null,
  remarks: [],
  report: null,
  questions: null,
});
