import { useMemo } from "react";
import { classNames } from "~/ui/class-names.ts";
import { type Draft, markOf } from "./draft.ts";
import { type DiffLine, firstLines, lineDiff } from "./line-diff.ts";

const labels = { new: "New", changed: "Changed", deleted: "Deleted", conflict: "In conflict" } as const;
const signs = { same: " ", added: "+", removed: "−" } as const;
const looks = { same: "", added: "bg-ok-soft", removed: "bg-bad-soft" } as const;

/** Files with more changed lines are shown folded. */
const longDiff = 60;
/** Of a file: each line is several elements. */
const maxLines = 1000;

/** Each changed file with the lines that differ. */
export function ChangeList({ draft: { files } }: { readonly draft: Draft }) {
  // Not again with each letter of the message.
  const changes = useMemo(
    () =>
      Object.entries(files)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([path, file]) => ({ path, file, groups: lineDiff(file.base ?? "", file.text ?? "") })),
    [files],
  );
  return (
    <ul aria-label="Changed files" className="flex flex-col gap-2">
      {changes.map(({ path, file, groups }) => {
        const lines = groups.flat();
        const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
        return (
          <li key={path}>
            <details open={lines.length <= longDiff} className="overflow-hidden rounded-md border">
              <summary className="flex min-h-9 items-center gap-2 bg-sunken px-3 py-1.5 text-xs">
                <code className="min-w-0 flex-1 break-all">{path}</code>
                <span className="text-muted">{labels[markOf(file) ?? "changed"]}</span>
                <span className="tabular text-ok">+{count("added")}</span>
                <span className="tabular text-bad">−{count("removed")}</span>
              </summary>
              {lines.length === 0 ? (
                <p className="border-t px-3 py-2 text-xs text-muted">
                  {file.base === null || file.text === null ? "It is empty." : "Only the end of the last line differs."}
                </p>
              ) : (
                <Diff path={path} groups={firstLines(groups, maxLines)} left={lines.length - maxLines} />
              )}
            </details>
          </li>
        );
      })}
    </ul>
  );
}

type DiffProps = {
  readonly path: string;
  readonly groups: readonly (readonly DiffLine[])[];
  /** How many more lines differ. */
  readonly left: number;
};

function Diff({ path, groups, left }: DiffProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: neither a fieldset nor a landmark
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard (WCAG 2.1.1)
      tabIndex={0}
      role="group"
      aria-label={`Changes of ${path}`}
      className="scroll-thin max-h-72 overflow-auto border-t font-mono text-xs leading-5"
    >
      <div className="w-max min-w-full">
        {groups.map((group, at) => (
          <div key={group[0]?.numbers.join()} className={classNames(at > 0 && "border-t border-dashed")}>
            {group.map(({ kind, text, numbers: [old, now] }) => (
              <div key={`${old} ${now}`} className={classNames("flex whitespace-pre", looks[kind])}>
                <span className="tabular w-11 shrink-0 pr-2 text-right text-muted select-none">{now ?? old}</span>
                <span aria-hidden className="w-4 shrink-0 select-none">
                  {signs[kind]}
                </span>
                {kind !== "same" && <span className="sr-only">{kind}: </span>}
                <span className="pr-4">{text}</span>
              </div>
            ))}
          </div>
        ))}
        {left > 0 && <p className="border-t border-dashed px-3 py-2 text-muted">{left} more lines are not shown.</p>}
      </div>
    </div>
  );
}
