import { leftOutLine, secretsLine } from "@towpath/core/repository/left-out/schema";
import { toast } from "~/ui/toast.ts";

/** Says what the instance left out of an archive; for a folder, the form has done so before. */
export function noteLeftOut(leftOut: readonly string[]): void {
  const line = leftOutLine(leftOut);
  if (line !== null) toast.info([line, secretsLine(leftOut)].filter((text) => text !== null).join(" "));
}
