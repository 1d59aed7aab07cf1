import { leftOutLine, secretsLine } from "@towpath/core/sources/repository/left-out/schema";
import { toast } from "~/ui/toast.ts";

/** Shows what the instance left out of an archive. For a folder, the form has shown it already. */
export function showLeftOut(leftOut: readonly string[]): void {
  const line = leftOutLine(leftOut);
  if (line !== null) toast.info([line, secretsLine(leftOut)].filter((text) => text !== null).join(" "));
}
