import { Link } from "@tanstack/react-router";
import { foldedTitle, foldFrames, withoutBoxes } from "@towpath/core/delivery/traceback/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { classNames } from "~/ui/class-names.ts";
import { plainText } from "~/ui/log-viewer/log-line.ts";
import { ClockTime } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import type { RequestExplanation } from "./request-log.functions.ts";

type RequestLinesProps = {
  projectKey: ProjectKey;
  explained: RequestExplanation | undefined;
  error: Error | null;
};

/** The server's output while it handled a request (LOG-4), with a link to that place in its log. */
export function RequestLines({ projectKey, explained, error }: RequestLinesProps) {
  const first = explained?.lines[0];
  return (
    <section aria-labelledby="request-lines">
      <div className="mb-1.5 flex items-baseline justify-between gap-3">
        <h3 id="request-lines" className="text-xs font-medium text-muted">
          Server log of this request
        </h3>
        {explained?.deployment && first && (
          <Link
            to="/$orgSlug/$projectName/server-logs/$buildId"
            params={{ ...projectKey, buildId: explained.deployment.buildId }}
            search={{ at: first.id }}
            hash={`L${first.id}`}
            className="text-xs font-medium text-accent-text underline-offset-2 hover:underline"
          >
            Show in the server log
          </Link>
        )}
      </div>
      <Lines explained={explained} error={error} />
    </section>
  );
}

function Lines({ explained, error }: { explained: RequestExplanation | undefined; error: Error | null }) {
  if (!explained) {
    const text = error ? `Couldn't load the lines. ${failureText(error)}` : "Loading the lines…";
    return <p className={error ? "text-bad" : "text-muted"}>{text}</p>;
  }
  if (explained.lines.length === 0) {
    return (
      <p className="text-muted">
        {explained.serverMs === null && explained.instanceId === null
          ? "None: no server got this request."
          : "The server printed nothing during this request."}
      </p>
    );
  }
  const texts = withoutBoxes(explained.lines.map(({ line }) => plainText(line)));
  const shown = new Map(explained.lines.map(({ id }, at) => [id, texts[at] ?? null]));
  return (
    <div className="rounded-md border bg-sunken">
      <ol className="scroll-thin max-h-72 overflow-auto p-2 font-mono text-xs">
        {foldFrames(explained.lines, ({ line }) => plainText(line)).map(({ lines, isFolded }) => {
          const [first] = lines;
          const rows = lines.map((line) => <Line key={line.id} line={line} text={shown.get(line.id) ?? null} />);
          if (!isFolded) return rows;
          return (
            <li key={first?.id}>
              <details>
                <summary className="min-h-6 cursor-default text-faint select-none hover:text-muted">
                  {foldedTitle(lines.map(({ line }) => plainText(line)))}
                </summary>
                <ol>{rows}</ol>
              </details>
            </li>
          );
        })}
      </ol>
      {explained.hasMoreLines && (
        <p className="border-t px-2 py-1 text-xs text-muted">There are more. The server log has all of them.</p>
      )}
    </div>
  );
}

function Line({ line, text }: { line: RequestExplanation["lines"][number]; text: string | null }) {
  if (text === null) return null;
  return (
    <li className="flex gap-3 leading-5">
      <ClockTime time={line.time} className="shrink-0 text-faint max-sm:hidden" />
      <span
        className={classNames(
          "min-w-0 whitespace-pre-wrap wrap-anywhere",
          line.level === "error" && "text-bad",
          line.level === "warning" && "text-warn",
          line.level === "debug" && "text-faint",
        )}
      >
        {text}
      </span>
    </li>
  );
}
