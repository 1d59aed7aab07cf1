import type { BuildPhase, Diagnosis } from "@towpath/core/delivery/build/contract";
import { ArrowDown, CircleX, FileCode, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { CodeBlock, InlineCode } from "~/ui/code-block.tsx";
import { plainText } from "~/ui/log-viewer/log-line.ts";

const phaseWords: Readonly<Record<BuildPhase, string>> = {
  fetch: "fetching the source",
  plan: "planning the build",
  install: "installing dependencies",
  inspect: "starting the server",
  rollout: "rolling out",
};

type DiagnosisPanelProps = {
  diagnosis: Diagnosis;
  /** What callers get until the next build. */
  liveText: ReactNode;
  /** Log line of the first error, to jump to. */
  errorLine: number | null;
  actions?: ReactNode;
  /** Below all. */
  children?: ReactNode;
};

/** Why a build failed: the problem, its place, the output, and what to do (BLD-2). */
export function DiagnosisPanel({ diagnosis, liveText, errorLine, actions, children }: DiagnosisPanelProps) {
  const { file, line, excerpt } = diagnosis;
  return (
    <section aria-labelledby="diagnosis-title" className="overflow-hidden rounded-lg border border-bad/35 bg-surface">
      <header className="flex gap-3 bg-bad-soft px-4 py-3.5">
        <CircleX className="mt-0.5 size-5 shrink-0 text-bad" />
        <div className="min-w-0 flex-1">
          <p className="text-xs font-medium text-bad">Failed while {phaseWords[diagnosis.phase]}</p>
          <h2 id="diagnosis-title" className="text-lg font-semibold tracking-tight text-balance break-words">
            <InlineCode text={diagnosis.title} />
          </h2>
        </div>
      </header>
      <div className="grid gap-x-8 gap-y-4 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <div className="flex min-w-0 flex-col gap-3">
          <p className="text-base break-words whitespace-pre-line">
            <InlineCode text={diagnosis.detail} />
          </p>
          {file !== null && (
            <p className="flex items-center gap-1.5 text-sm text-muted">
              <FileCode className="size-4 shrink-0 text-faint" />
              <code className="min-w-0 break-all text-ink">{line === null ? file : `${file}:${line}`}</code>
            </p>
          )}
          {excerpt !== null && excerpt.trim() !== "" && <Excerpt text={excerpt} />}
        </div>
        <aside className="flex flex-col gap-3 self-start rounded-md bg-accent-soft p-3.5">
          <div className="flex gap-2.5">
            <Wrench className="mt-0.5 size-4 shrink-0 text-accent-text" />
            <div className="min-w-0">
              <h3 className="text-sm font-semibold">What to do</h3>
              <p className="mt-0.5 text-sm break-words whitespace-pre-line">
                <InlineCode text={diagnosis.remedy} />
              </p>
            </div>
          </div>
          <div className="flex flex-wrap gap-2 empty:hidden">
            {actions}
            {errorLine !== null && (
              <a href={`#L${errorLine}`} className={buttonLook()}>
                <ArrowDown /> Show in log
              </a>
            )}
          </div>
        </aside>
      </div>
      <footer className="min-h-10 border-t px-4 py-2.5 text-sm text-muted">{liveText}</footer>
      {children}
    </section>
  );
}

/** The end of the output. Its last line is the error itself. */
function Excerpt({ text }: { text: string }) {
  const lines = text.trimEnd().split("\n").map(plainText);
  const last = lines.length - 1;
  return (
    <CodeBlock code={lines.join("\n")} label="excerpt" wrap className="max-h-72">
      {lines.map((each, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a constant text
        <span key={index} className={classNames("block min-h-5", index === last ? "text-bad" : "text-muted")}>
          {each}
        </span>
      ))}
    </CodeBlock>
  );
}
