import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { SurfaceChangesView } from "@towpath/core/delivery/surface";
import { TriangleAlert } from "lucide-react";
import { surfaceChangesQuery } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { classNames } from "~/ui/class-names.ts";

type Change = SurfaceChangesView["changes"][number];

const signs = { added: "+", removed: "−", changed: "~" } as const;
const labels = { added: "Added", removed: "Removed", changed: "Changed" } as const;
const looks = {
  added: "bg-ok-soft text-ok",
  removed: "bg-bad-soft text-bad",
  changed: "bg-warn-soft text-warn",
} as const;

type SurfaceChangesProps = {
  project: ProjectKey;
  buildId: string;
  against?: "production";
  className?: string;
};

/** A build's changes for callers, as chips (BLD-14); nothing without a version to compare with. */
export function SurfaceChanges({ project, buildId, against, className }: SurfaceChangesProps) {
  const { data } = useQuery(surfaceChangesQuery(project, buildId, against));
  if (!data) return null;
  const { changes } = data;
  return (
    <section aria-label="What changes for callers" className={classNames("flex flex-col gap-2 text-sm", className)}>
      <p className="text-muted">
        {changes.length === 0 ? "Nothing changes for callers" : "Changes for callers"} compared with{" "}
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...project, buildId: data.against.buildId }}
          className="inline-flex min-h-6 items-center underline decoration-line-strong underline-offset-3 hover:text-ink"
        >
          <code>{versionText(data.against)}</code>
        </Link>
        , {data.against.is === "live" ? "which is live" : "which it replaced"}
        {changes.length === 0 && "."}
      </p>
      {changes.length > 0 && <ChangeList changes={changes} />}
      <p className="text-xs text-muted">{weightText(data.toolListTokens)}</p>
    </section>
  );
}

/** Changes as chips. Breaking ones first, as in the pull request's check and comment. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  const breaking = changes.filter((change) => change.breaking).length;
  return (
    <>
      <ul className="flex flex-wrap gap-1.5">
        {changes
          .toSorted((one, other) => Number(other.breaking) - Number(one.breaking))
          .map((change) => (
            <Chip key={`${change.kind} ${change.name}`} change={change} />
          ))}
      </ul>
      {breaking > 0 && (
        <p className="mt-2 flex items-center gap-1.5 text-xs text-warn">
          <TriangleAlert className="size-3.5 shrink-0" />
          {breaking === 1 ? "One of them can break existing calls." : `${breaking} can break existing calls.`}
        </p>
      )}
    </>
  );
}

/** The size of the server's tool list in a model's context. */
function weightText({ before, after }: SurfaceChangesView["toolListTokens"]): string {
  const [was, is] = [before, after].map((tokens) => tokens.toLocaleString("en"));
  const now = `The list of tools has about ${is} ${after === 1 ? "token" : "tokens"}`;
  return before === after ? `${now}, as before.` : `${now}, before about ${was}.`;
}

function Chip({ change }: { change: Change }) {
  const { kind, name, details, breaking } = change;
  return (
    <li className={classNames("max-w-full rounded-md px-2 py-0.5 text-xs leading-5 break-words", looks[change.change])}>
      <span aria-hidden className="font-mono font-semibold">
        {signs[change.change]}
      </span>
      <span className="sr-only">
        {labels[change.change]} {kind}
      </span>{" "}
      <code className="font-medium">{name}</code>
      {kind !== "tool" && <span aria-hidden> {kind}</span>}
      {details.length > 0 && <span className="text-ink/80">: {details.join(", ")}</span>}
      {breaking && (
        <TriangleAlert className="ml-1 inline size-3 align-[-0.1em]" aria-label="can break existing calls" role="img" />
      )}
    </li>
  );
}
