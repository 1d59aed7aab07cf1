import type { project } from "@towpath/db/schema";
import type { SecretBox } from "@towpath/secrets";
import { checkSettingOf } from "../../projects/project/internal.ts";
import { openDocument, type ReplayRow, verdictText } from "../replay/internal.ts";
import { verdictSchema } from "../replay/replay.schema.ts";
import type { ReportedReplay } from "./replay-text.ts";

/** A replay as it is reported; null where there is none, or a newer commit's has taken its place. */
export function reportedReplay(
  box: SecretBox,
  row: ReplayRow | null,
  of: Pick<typeof project.$inferSelect, "replay" | "checkQuestions">,
): ReportedReplay | null {
  const setting = checkSettingOf(of);
  if (row === null || setting === null || row.state === "replaced") return null;
  const verdict = verdictSchema.nullable().catch(null).parse(row.verdict);
  const { state } = row;
  const document = openDocument(box, row);
  const text = verdictText({ ...row, verdict }, document);
  const isReplayed = setting.replay !== null;
  return { state, isReplayed, verdict, text, isRequired: setting.replay?.isRequired ?? false, document };
}
