import { Activity } from "lucide-react";
import { memo } from "react";
import { classNames } from "../class-names.ts";
import { ClockTime } from "../time.tsx";
import { type LogLine, parseAnsi, splitAtMatches } from "./log-line.ts";

const tones: Record<LogLine["tone"], string> = {
  step: "font-medium text-ink",
  result: "font-medium text-ok",
  output: "text-muted",
  warning: "text-warn",
  error: "text-bad",
  faint: "text-faint",
};

type RowProps = {
  line: LogLine;
  query: string;
  wrap: boolean;
  /** The URL links to this line. */
  linked: boolean;
  /** This line is the search's current match. */
  current: boolean;
};

/** One line: its number as a link to itself, time, tag, and text with its colors. */
export const LogRow = memo(function LogRow({ line, query, wrap, linked, current }: RowProps) {
  return (
    <div
      className={classNames(
        "flex min-h-5 gap-3 px-3 leading-5",
        line.tone === "error" && "bg-bad-soft/60",
        line.tone === "warning" && "bg-warn-soft/50",
        current && "bg-accent-soft",
        linked && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]",
      )}
    >
      <a
        href={`#L${line.id}`}
        tabIndex={-1}
        className="w-9 shrink-0 text-right text-faint tabular-nums select-none hover:text-accent-text max-sm:hidden"
        aria-label={`Link to line ${line.id}`}
      >
        {line.id}
      </a>
      <ClockTime time={line.time} className="shrink-0 text-faint select-none max-md:hidden" />
      {line.tag !== undefined && (
        <span className="w-14 shrink-0 truncate text-faint select-none max-sm:hidden">{line.tag}</span>
      )}
      {line.link && (
        <a
          href={line.link.href}
          aria-label={line.link.label}
          title={line.link.label}
          // 24 px: the minimum target size of WCAG 2.2 (2.5.8).
          className="-mx-1.5 flex size-6 shrink-0 items-center justify-center text-faint select-none hover:text-accent-text"
        >
          <Activity className="size-3" />
        </a>
      )}
      <span
        className={classNames("min-w-0", tones[line.tone], wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre")}
      >
        {line.summary === undefined ? (
          <LogText text={line.text} query={query} />
        ) : (
          // Matches of the search are open.
          <details open={current || linked || undefined}>
            <summary className="cursor-default text-faint select-none hover:text-muted">{line.summary}</summary>
            {line.text.split("\n").map((text, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a constant text
              <div key={index}>
                <LogText text={text} query={query} />
              </div>
            ))}
          </details>
        )}
      </span>
    </div>
  );
});

function LogText({ text, query }: { text: string; query: string }) {
  let position = 0;
  return parseAnsi(text).map((segment) => {
    const key = position;
    position += segment.text.length;
    return (
      <span
        key={key}
        style={segment.color ? { color: segment.color } : undefined}
        className={classNames(
          segment.bold && "font-semibold",
          segment.dim && !segment.color && "text-faint",
          segment.underline && "underline",
        )}
      >
        {splitAtMatches(segment.text, query).map((piece, index) =>
          piece.match ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a constant text
            <mark key={index} className="rounded-xs bg-warn-soft text-ink outline-1 outline-warn/60">
              {piece.text}
            </mark>
          ) : (
            piece.text
          ),
        )}
      </span>
    );
  });
}
