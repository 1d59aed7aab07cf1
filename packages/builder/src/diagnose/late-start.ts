import type { Diagnosis, DiagnosisAction } from "@towpath/core/delivery/build/contract";
import type { LateStart } from "@towpath/runtime";
import { changeCode, diagnosis, rebuild, seconds } from "../failure.ts";
import type { ServerOutput } from "./limits.ts";

type Activity = {
  /** A sentence with the processor time that the server got. */
  readonly did: (used: string) => string;
  readonly remedy: (where: string) => string;
  readonly action: DiagnosisAction;
};

const activities: Readonly<Record<LateStart["activity"], Activity>> = {
  starved: {
    did: (used) => `It was ready to run, but got only ${used}, because the host's processors were busy with others.`,
    remedy: () =>
      "Rebuild when the host is less busy: nothing shows that the server is at fault. If it happens often, ask the operator for more processors, or for a longer TOWPATH_START_TIMEOUT_MS.",
    action: rebuild,
  },
  busy: {
    did: (used) => `It used ${used}, so it computes or loops.`,
    remedy: (where) =>
      `Look in ${where} for a loop or a long computation during the import, and move it into a tool or a lifespan.`,
    action: changeCode,
  },
  waiting: {
    did: (used) => `It used only ${used}, though there was more, so it waits for something.`,
    remedy: (where) =>
      `Look in ${where} for what it waits for (a connection, a download, a lock, input), and move it into a tool, or give it a time limit.`,
    action: changeCode,
  },
};

const unknownActivity = {
  remedy: (where: string) =>
    `Look in ${where} for code that waits or loops during the import (a connection, a download, \`while True\`), and move it into a tool or a lifespan.`,
  action: changeCode,
};

/**
 * The server was neither ready nor had failed in time: it waits, it loops, or the host had no processor for it. Pure.
 *
 * @param late null for a runner of an earlier version, which doesn't say
 */
export function diagnoseLateStart(late: LateStart | null, limitMs: number, { file, excerpt }: ServerOutput): Diagnosis {
  const [at] = late?.stack ?? [];
  const own = at?.isOwn ? at : null;
  const stood =
    own === null
      ? `${file} was still being loaded`
      : `It was at \`${own.file}\` line ${own.line}${inFunction(own.name)}`;
  const did = late && activities[late.activity].did(`${(late.processorMs / 1000).toFixed(1)} s of processor time`);
  const printed = excerpt === null ? "It printed nothing." : "Its last lines are below.";
  const { remedy, action } = late === null ? unknownActivity : activities[late.activity];
  // As in a traceback, from the owner's own frame on.
  const frames = late?.stack.map(({ file, line, name }) => `File "${file}", line ${line}, in ${name}`).join("\n");
  return diagnosis("inspect", "start_timeout", action, {
    title:
      late?.activity === "starved"
        ? "The host was too busy to start the server in time"
        : "The server did not start in time",
    detail: [`${stood} after ${seconds(late?.afterMs ?? limitMs)}.`, did, printed].filter(Boolean).join(" "),
    remedy: remedy(own === null ? file : `${own.file} line ${own.line}`),
    file: own?.file ?? file,
    line: own?.line ?? null,
    excerpt: [frames, excerpt].filter(Boolean).join("\n\n") || null,
  });
}

const inFunction = (name: string) => (name.startsWith("<") ? "" : `, in \`${name}\``);
