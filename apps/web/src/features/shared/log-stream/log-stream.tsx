import { useEffect, useState } from "react";
import type { z } from "zod";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { openLogConnection, type StreamState } from "./log-connection.ts";

/** How long lines are batched before rendering, in milliseconds, so that a flood doesn't render line by line. */
const batchMs = 80;

/** Lines kept in the page; older ones are dropped (the server still has them). */
const maxLines = 50_000;

export type LogStream<Line> = {
  readonly lines: readonly Line[];
  readonly state: StreamState;
  /** Why the log has stopped or paused, for the user. */
  readonly problem: string | null;
};

/**
 * Reads a log over server-sent events: `line` events in the shape of `schema`, `status` when the log's owner changed,
 * `end` when nothing more comes. Drops duplicates: `idOf` must increase.
 */
export function useLogStream<Line>(
  url: string | null,
  schema: z.ZodType<Line>,
  idOf: (line: Line) => number,
  onStatus?: () => void,
): LogStream<Line> {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [state, setState] = useState<StreamState>("connecting");
  const [problem, setProblem] = useState<string | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: one stream per URL; the functions don't change
  useEffect(() => {
    setLines([]);
    setState("connecting");
    setProblem(null);
    if (url === null) return;
    let batch: Line[] = [];
    let lastId = Number.NEGATIVE_INFINITY;
    const flush = () => {
      if (batch.length === 0) return;
      const arrived = batch;
      batch = [];
      setLines((before) => [...before, ...arrived].slice(-maxLines));
    };
    const timer = setInterval(flush, batchMs);
    const close = openLogConnection(url, {
      onProblem: setProblem,
      onState: (next) => {
        setState(next);
        if (next !== "ended") return;
        flush();
        onStatus?.();
      },
      onEvent: (event, data) => {
        if (event === "status") return onStatus?.();
        const line = parseLine(data, schema);
        if (line === null || idOf(line) <= lastId) return;
        lastId = idOf(line);
        batch.push(line);
      },
    });
    return () => {
      clearInterval(timer);
      close();
    };
  }, [url]);

  return { lines, state, problem };
}

function parseLine<Line>(data: string, schema: z.ZodType<Line>): Line | null {
  try {
    return schema.parse(JSON.parse(data));
  } catch {
    return null;
  }
}

const looks: Record<StreamState, { label: string; tone: Tone }> = {
  connecting: { label: "Connecting", tone: "neutral" },
  open: { label: "Following", tone: "ok" },
  reconnecting: { label: "Reconnecting", tone: "warn" },
  waiting: { label: "Paused", tone: "warn" },
  refused: { label: "Stopped", tone: "bad" },
  ended: { label: "Ended", tone: "neutral" },
};

/** Whether the log is still live. */
export function StreamStateLabel({ state }: { state: StreamState }) {
  const look = looks[state];
  return (
    <span role="status" className="inline-flex items-center gap-1.5 px-1.5 text-xs text-muted">
      <StatusDot tone={look.tone} pulse={state === "open" || state === "reconnecting"} />
      {look.label}
    </span>
  );
}

/** Why a log has stopped or paused; nothing while it is live. */
export function StreamProblem({ stream: { state, problem } }: { stream: LogStream<unknown> }) {
  if (problem === null) return null;
  const stopped = state === "refused";
  return (
    <Callout tone={stopped ? "bad" : "warn"} title={stopped ? "The log has stopped" : "The log is paused"}>
      {problem}
    </Callout>
  );
}
