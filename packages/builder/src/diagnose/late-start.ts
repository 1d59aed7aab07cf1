import type { Diagnosis } from "@towpath/core/build/contract";
import type { LateStart } from "@towpath/runtime";
import { changeCode, diagnosis, rebuild, seconds } from "../failure.ts";

/** `late`: null where a runner of an earlier version doesn't say. */
type Late = { readonly file: string; readonly late: LateStart | null; readonly limitMs: number };

/** Neither ready nor failed in time: it waits, it loops, or the host had no processor for it. Pure. */
export function diagnoseLateStart({ file, late, limitMs }: Late, lastLines: readonly string[]): Diagnosis {
  const [at] = late?.stack ?? [];
  const own = at?.isOwn ? at : null;
  const where = own === null ? file : `${own.file} line ${own.line}`;
  const stood =
    own === null
      ? `${file} was still being loaded`
      : `It stood at \`${own.file}\` line ${own.line}${inFunction(own.name)}`;
  const after = `after ${seconds(late?.afterMs ?? limitMs)}`;
  const printed = lastLines.length === 0 ? "It printed nothing." : "Its last lines are below.";
  return diagnosis(
    {
      code: "start_timeout",
      phase: "inspect",
      title:
        late?.activity === "starved"
          ? "The host was too busy to start the server in time"
          : "The server did not start in time",
      detail: [`${stood} ${after}.`, ...(late === null ? [] : [processorText(late)]), printed].join(" "),
      ...whatHelps(late, where),
    },
    { file: own?.file ?? file, line: own?.line ?? null, excerpt: excerptOf(late, lastLines) },
  );
}

const inFunction = (name: string) => (name.startsWith("<") ? "" : `, in \`${name}\``);

function processorText({ activity, processorMs }: LateStart): string {
  const used = `${(processorMs / 1000).toFixed(1)} s of processor time`;
  switch (activity) {
    case "starved":
      return `It was ready to run, but got only ${used}, because the host's processors were busy with others.`;
    case "busy":
      return `It used ${used}, so it computes or loops.`;
    case "waiting":
      return `It used only ${used}, though there was more, so it waits for something.`;
  }
}

function whatHelps(late: LateStart | null, where: string): Pick<Diagnosis, "remedy" | "action"> {
  switch (late?.activity) {
    case "starved":
      return {
        remedy:
          "Rebuild when the host is less busy: nothing shows that the server is at fault. If it happens often, ask the operator for more processors, or for a longer TOWPATH_START_TIMEOUT_MS.",
        action: rebuild,
      };
    case "busy":
      return {
        remedy: `Look in ${where} for a loop or a long computation during the import, and move it into a tool or a lifespan.`,
        action: changeCode,
      };
    case "waiting":
      return {
        remedy: `Look in ${where} for what it waits for (a connection, a download, a lock, input), and move it into a tool, or give it a time limit.`,
        action: changeCode,
      };
    default:
      return {
        remedy: `Look in ${where} for code that waits or loops during the import (a connection, a download, \`while True\`), and move it into a tool or a lifespan.`,
        action: changeCode,
      };
  }
}

/** As in a traceback, from the owner's own frame on, and then what was printed. */
function excerptOf(late: LateStart | null, lastLines: readonly string[]): string | null {
  const frames = (late?.stack ?? []).map(({ file, line, name }) => `File "${file}", line ${line}, in ${name}`);
  const parts = [frames.join("\n"), lastLines.join("\n")].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.join("\n\n");
}
