import { type CheckQuestions, checkQuestionsOf } from "./check-questions.schema.ts";
import { type ReplaySetting, replaySettingOf } from "./replay.schema.ts";

/** What the check of a preview compares with production (CAP-4), at least one of both. */
export type CheckSetting = {
  /** Null: no calls are replayed. */
  readonly replay: ReplaySetting | null;
  /** Null: no questions are asked. */
  readonly questions: CheckQuestions | null;
};

/** Null: nothing is compared. */
export function checkSettingOf(row: {
  readonly replay: unknown;
  readonly checkQuestions: unknown;
}): CheckSetting | null {
  const replay = replaySettingOf(row);
  const saved = checkQuestionsOf(row);
  const questions = saved.isOn && saved.texts.length > 0 ? saved : null;
  return replay === null && questions === null ? null : { replay, questions };
}
