import type { ServerLogLevel, ServerLogRow } from "@towpath/logs";
import type { OutputSink } from "@towpath/runtime";
import { logLevelReader } from "../logs/log-level.ts";

/** The server log of one deployment. */
export type ServerLog = {
  /** For the output of one instance. */
  output(instanceId: string): OutputSink;
  /** What the platform says about an instance. */
  platform(instanceId: string | null, level: ServerLogLevel, line: string): void;
};

/** `redact` takes secrets out of what the server prints (KEY-4). */
export function serverLog(
  ids: { readonly projectId: string; readonly deploymentId: string },
  push: (row: ServerLogRow) => void,
  redact: (text: string) => string,
): ServerLog {
  return {
    output(instanceId) {
      const levelOf = logLevelReader();
      return (stream, line, time) =>
        push({ ...ids, instanceId, time, stream, level: levelOf(stream, line), line: redact(line) });
    },
    platform: (instanceId, level, line) =>
      push({ ...ids, instanceId, time: new Date(), stream: "platform", level, line }),
  };
}
