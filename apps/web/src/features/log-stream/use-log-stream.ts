import { useEffect, useState } from "react";
import type { z } from "zod";

export type StreamState = "connecting" | "open" | "reconnecting" | "ended";

/** Milliseconds that lines wait to be shown together, so that a flood does not render the page line by line. */
const gatherMs = 80;

/** Lines that are kept in the page; older ones make room (the server still has them). */
const mostLines = 50_000;

/**
 * Reads a log over server-sent events: `line` events in the shape of `schema`, `status` when the owner of the log
 * changed, `end` when nothing more comes. The browser reconnects by itself with Last-Event-ID; lines that come twice
 * are dropped by `idOf`, which must rise.
 */
export function useLogStream<Line>(
  url: string | null,
  schema: z.ZodType<Line>,
  idOf: (line: Line) => number,
  onStatus?: () => void,
): { lines: readonly Line[]; state: StreamState } {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [state, setState] = useState<StreamState>("connecting");

  // biome-ignore lint/correctness/useExhaustiveDependencies: a stream is opened per address; the functions are constants
  useEffect(() => {
    setLines([]);
    setState("connecting");
    if (url === null) return;
    const source = new EventSource(url);
    let gathered: Line[] = [];
    let lastId = Number.NEGATIVE_INFINITY;
    const flush = () => {
      if (gathered.length === 0) return;
      const arrived = gathered;
      gathered = [];
      setLines((before) => [...before, ...arrived].slice(-mostLines));
    };
    const timer = setInterval(flush, gatherMs);
    source.onopen = () => setState("open");
    source.onerror = () => setState(source.readyState === EventSource.CLOSED ? "ended" : "reconnecting");
    source.addEventListener("line", (event) => {
      const line = parseEvent(event.data, schema);
      if (line === null || idOf(line) <= lastId) return;
      lastId = idOf(line);
      gathered.push(line);
    });
    source.addEventListener("status", () => onStatus?.());
    source.addEventListener("end", () => {
      flush();
      source.close();
      setState("ended");
      onStatus?.();
    });
    return () => {
      clearInterval(timer);
      source.close();
    };
  }, [url]);

  return { lines, state };
}

function parseEvent<Line>(data: string, schema: z.ZodType<Line>): Line | null {
  try {
    return schema.parse(JSON.parse(data));
  } catch {
    return null;
  }
}
