import { useQuery } from "@tanstack/react-query";
import type { SourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { RepositoryLink } from "~/features/shared/project-screen/repository-links.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { NotLoaded } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { ChangeSource } from "./change-source.tsx";
import type { FromGitHub, MovedToGitHub } from "./continue-on-github.types.ts";
import { LiveBranch } from "./live-branch.tsx";
import { sourceQuery } from "./source.functions.ts";
import { SourceChecked } from "./source-checked.tsx";

const pending = <Skeleton className="h-40 w-full" />;
const GitUrl = lazyPart(async () => (await import("./git-source.tsx")).GitUrl, pending);
const ContinueOnGitHub = lazyPart(async () => (await import("./continue-on-github.tsx")).ContinueOnGitHub, pending);
const MovedNotice = lazyPart(async () => (await import("./moved-notice.tsx")).MovedNotice);
const OwnRepository = lazyPart(async () => (await import("./own-source.tsx")).OwnRepository, pending);

type SourceSettingsProps = {
  readonly projectKey: ProjectKey;
  readonly back: FromGitHub | null;
};

/**
 * A server's source, how pushes are detected, and how to change it (SRC-1, SRC-2). `back`: the person returns from
 * GitHub, where the form to continue there sent them.
 */
export function SourceSettings({ projectKey, back }: SourceSettingsProps) {
  const [moved, setMoved] = useState<MovedToGitHub | null>(null);
  const mayMove = useMay("repository.continue");
  const { data: source, error, refetch } = useQuery(sourceQuery(projectKey));
  return (
    <Card id="source" className="scroll-mt-24">
      <CardHeader
        title="Source"
        description="Where the code comes from. What is live stays until a new build replaces it."
      />
      <CardBody className="flex flex-col gap-5">
        {source ? (
          <>
            {moved && source.kind === "github" ? <MovedNotice {...moved} /> : null}
            <Place source={source} />
            {source.kind === "git" ? <GitUrl projectKey={projectKey} source={source} /> : null}
            {source.kind === "github" ? <GitHub projectKey={projectKey} source={source} /> : null}
            {source.kind === "repository" ? <OwnRepository projectKey={projectKey} source={source} /> : null}
            {source.kind === "repository" && mayMove ? (
              <ContinueOnGitHub projectKey={projectKey} source={source} back={back} onMoved={setMoved} />
            ) : null}
            <ChangeSource projectKey={projectKey} source={source} />
          </>
        ) : error ? (
          <NotLoaded what="the source" error={error} retry={refetch} />
        ) : (
          <Skeleton className="h-24 w-full" />
        )}
      </CardBody>
    </Card>
  );
}

function Place({ source }: { readonly source: SourceView }) {
  const url = source.kind === "git" || source.kind === "repository" ? source.url : null;
  return (
    <dl className="text-sm">
      <dt className="text-xs text-muted">
        {source.kind === "package"
          ? "Package"
          : source.kind === "repository"
            ? "Repository of this instance"
            : "Repository"}
      </dt>
      <dd className="mt-0.5 text-base font-medium wrap-anywhere">
        {source.kind === "package" || source.kind === "repository" ? (
          <code>{source.name}</code>
        ) : (
          <RepositoryLink
            name={source.kind === "git" ? `${source.host}/${source.name}` : source.fullName}
            className="underline underline-offset-2"
          />
        )}
      </dd>
      {url === null ? null : (
        <dd className="mt-0.5 text-xs wrap-anywhere text-muted">
          <span className="sr-only">URL: </span>
          <code>{url}</code>
        </dd>
      )}
    </dl>
  );
}

type GitHubProps = { readonly projectKey: ProjectKey; readonly source: Extract<SourceView, { kind: "github" }> };

function GitHub({ projectKey, source }: GitHubProps) {
  return (
    <>
      <SourceChecked projectKey={projectKey} source={source} />
      <LiveBranch projectKey={projectKey} source={source} hint="Pushes to it go live. Other branches get previews." />
    </>
  );
}
