import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileCode } from "lucide-react";
import { fileQuery } from "~/features/project/code/code.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useCodeUrl } from "~/features/shared/project-screen/repository-links.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Skeleton } from "~/ui/loading.tsx";
import type { ShownError } from "./errors.functions.ts";

type ErrorSourceProps = { readonly projectKey: ProjectKey; readonly error: ShownError };

/** The lines of the server's own code that raised it, as they were deployed; nothing without a frame. */
export function ErrorSource({ projectKey, error }: ErrorSourceProps) {
  const { frame, last } = error;
  const mayRead = useMay("build.start");
  const commit = last?.packageVersion === null ? last : null;
  const path = frame && `${commit?.rootDirectory ? `${commit.rootDirectory}/` : ""}${frame.file}`;
  const url = useCodeUrl(commit?.commitSha ?? "", commit && path, frame?.line ?? null);
  if (frame === null || path === null) return null;
  const link =
    commit && mayRead ? (
      <Link
        to="/$orgSlug/$projectName/code"
        params={projectKey}
        search={{ branch: commit.branch, file: path, line: frame.line, commit: commit.commitSha }}
        className={buttonLook({ size: "sm" })}
      >
        <FileCode />
        Open {fileName(frame.file)} line {frame.line}
      </Link>
    ) : url ? (
      <a href={url} target="_blank" rel="noreferrer" className={buttonLook({ size: "sm" })}>
        <FileCode />
        Open {fileName(frame.file)} line {frame.line}
      </a>
    ) : null;
  return (
    <Card>
      <CardHeader
        title="Raised in your code"
        description={
          <>
            <code>{frame.file}</code> line {frame.line}, in <code>{frame.name}</code>
          </>
        }
        actions={link}
      />
      {commit && mayRead ? (
        <Lines
          projectKey={projectKey}
          at={{ branch: commit.branch, sha: commit.commitSha }}
          path={path}
          line={frame.line}
        />
      ) : null}
    </Card>
  );
}

const fileName = (file: string) => file.slice(file.lastIndexOf("/") + 1);

/** Lines shown before and after. */
const around = 5;

type LinesProps = {
  readonly projectKey: ProjectKey;
  readonly at: { readonly branch: string; readonly sha: string };
  readonly path: string;
  readonly line: number;
};

function Lines({ projectKey, at, path, line }: LinesProps) {
  const { data, isPending } = useQuery({ ...fileQuery(projectKey, at, path), retry: false });
  if (isPending)
    return (
      <CardBody>
        <Skeleton className="h-32" />
      </CardBody>
    );
  // The branch, or the repository, may be gone: the place alone stays.
  if (!data || data.text === null) return null;
  const lines = data.text.split("\n");
  const first = Math.max(0, line - 1 - around);
  const shown = lines.slice(first, line + around);
  return (
    <CardBody>
      {/* biome-ignore lint/a11y/useSemanticElements: neither a fieldset nor a landmark */}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard (WCAG 2.1.1)
        tabIndex={0}
        role="group"
        aria-label={`Lines ${first + 1} to ${first + shown.length} of ${path}`}
        className="scroll-thin overflow-x-auto rounded-md border bg-sunken py-2 text-xs leading-5"
      >
        {shown.map((text, index) => {
          const number = first + index + 1;
          return (
            <span
              key={number}
              aria-current={number === line ? "location" : undefined}
              className={classNames("flex w-max min-w-full gap-3 px-3", number === line && "bg-bad-soft")}
            >
              <span className="tabular w-8 shrink-0 text-right text-muted select-none">{number}</span>
              <code className="text-[length:inherit] whitespace-pre">{text || " "}</code>
            </span>
          );
        })}
      </pre>
    </CardBody>
  );
}
