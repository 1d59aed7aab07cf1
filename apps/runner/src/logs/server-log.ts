import type { ServerLogLevel, ServerLogRow } from "@towpath/logs";
import { lineCutMark, type OutputSink } from "@towpath/runtime";
import type { Redactor } from "@towpath/secrets/redaction";
import { readRequestMark } from "./request-mark.ts";

/** A line of the log. `sequence`: the driver's number; the platform's own lines have none. */
export type ServerLine = ServerLogRow & { readonly sequence?: number };

/** The server log of one deployment. */
export type ServerLog = {
  /** A sink for the output of one instance. */
  output(instanceId: string): OutputSink;
  /** Writes a line of the platform about an instance. */
  platform(instanceId: string | null, level: ServerLogLevel, line: string): void;
};

/** `redactor` removes secrets from the server's output (KEY-4). */
export function serverLog(
  ids: { readonly projectId: string; readonly deploymentId: string },
  push: (row: ServerLine) => void,
  redactor: Pick<Redactor, "text">,
): ServerLog {
  // A line may have been cut within a value: the redactor must see it end there.
  const redact = (line: string) =>
    line.endsWith(lineCutMark) ? redactor.text(line.slice(0, -lineCutMark.length)) + lineCutMark : redactor.text(line);
  return {
    output(instanceId) {
      const levelOf = logLevelReader();
      return (stream, marked, time, sequence) => {
        const { requestId, line } = readRequestMark(marked);
        const level = levelOf(stream, line);
        const row = { ...ids, instanceId, time, stream, level, requestId, line: redact(line) };
        push(sequence === undefined ? row : { ...row, sequence });
      };
    },
    platform: (instanceId, level, line) =>
      push({ ...ids, instanceId, time: new Date(), stream: "platform", level, requestId: null, line }),
  };
}

type Stream = "stdout" | "stderr";

const levels: Readonly<Record<string, ServerLogLevel>> = {
  trace: "debug",
  debug: "debug",
  info: "info",
  notice: "info",
  success: "info",
  warn: "warning",
  warning: "warning",
  error: "error",
  err: "error",
  critical: "error",
  fatal: "error",
  exception: "error",
};

/**
 * Characters of a line that are matched. The level is near the beginning, and matching must not get slow for long
 * lines.
 */
const maxInspected = 256;

// "INFO:     text", "[INFO] text", "WARNING text", "<info> text"
const atStart = /^[[(<]?\s*([A-Za-z]{3,9})\s*[\])>:|]/;
const upperAtStart = /^(TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
// "2026-11-21 10:00:00,123 - name - ERROR - text", "[11/21/26 10:00:00] INFO  text"
const timeAtStart = /^\[?\d/;
const upperWord = /\b(TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
/** Enough for a time stamp and the name of a logger. */
const maxBeforeLevel = 120;
const tracebackStart = /^[|+\s-]*(?:Exception Group )?Traceback \(most recent call last\):/;
const chained = /^(?:During handling of the above exception|The above exception was the direct cause)/;
const exceptionLine = /^(?:[A-Za-z_][\w.]*)(?:Error|Exception|Interrupt|Exit|Warning|Group)\b(?::|$)/;

/** Determines the level of each line of one server. Keeps track of tracebacks, which span several lines. */
export function logLevelReader(): (stream: Stream, line: string) => ServerLogLevel {
  const inTraceback: Record<Stream, boolean> = { stdout: false, stderr: false };
  return (stream, whole) => {
    const line = whole.slice(0, maxInspected);
    if (tracebackStart.test(line)) {
      inTraceback[stream] = true;
      return "error";
    }
    if (inTraceback[stream]) {
      // Frames are indented (or have bars); the first line without is the exception.
      if (line === "" || /^[\s|+]/.test(line)) return "error";
      inTraceback[stream] = false;
      return "error";
    }
    if (chained.test(line)) return "error";
    return levelOf(whole, line) ?? (stream === "stderr" && exceptionLine.test(line) ? "error" : "info");
  };
}

function levelOf(whole: string, line: string): ServerLogLevel | null {
  if (line.startsWith("{")) return jsonLevel(whole);
  const word = atStart.exec(line)?.[1] ?? upperAtStart.exec(line)?.[1];
  const named = word === undefined ? undefined : levels[word.toLowerCase()];
  if (named !== undefined) return named;
  if (!timeAtStart.test(line)) return null;
  const later = upperWord.exec(line.slice(0, maxBeforeLevel))?.[1];
  return later === undefined ? null : (levels[later.toLowerCase()] ?? null);
}

/** `level`, `severity` or `levelname`, as words or as the numbers of Python (10 to 50) and pino (10 to 60). */
function jsonLevel(line: string): ServerLogLevel | null {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null) return null;
    const record = parsed as Record<string, unknown>;
    const level = record.level ?? record.severity ?? record.levelname ?? record.log_level;
    if (typeof level === "string") return levels[level.toLowerCase()] ?? null;
    if (typeof level === "number")
      return level >= 50 ? "error" : level >= 40 ? "warning" : level >= 20 ? "info" : "debug";
    return null;
  } catch {
    return null;
  }
}
