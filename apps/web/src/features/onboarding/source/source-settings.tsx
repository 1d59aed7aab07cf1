import { useQuery } from "@tanstack/react-query";
import type { FollowedSourceView, GitSourceView, RepositorySourceView, SourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import { UploadVersion } from "~/features/onboarding/upload/upload-version.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { RepositoryLink } from "~/features/shared/project-screen/repository-links.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout, Failure, NotLoaded } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { SwitchField } from "~/ui/checkbox.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { SelectField } from "~/ui/select.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { ChangeSource } from "./change-source.tsx";
import { ContinueOnGitHub, type FromGitHub, MovedNotice, type MovedToGitHub } from "./continue-on-github.tsx";
import { GitCommands } from "./git-commands.tsx";
import { sourceQuery, updateSource } from "./source.functions.ts";
import { SourceChecked } from "./source-checked.tsx";
import { SourceCredential } from "./source-credential.tsx";
import { SourceStatus } from "./source-status.tsx";
import { SourceWebhook } from "./source-webhook.tsx";
import { useSourceChange } from "./use-source-change.ts";

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

type GitProps = { readonly projectKey: ProjectKey; readonly source: GitSourceView };

function GitUrl({ projectKey, source }: GitProps) {
  return (
    <>
      <SourceChecked projectKey={projectKey} source={source} />
      <Followed projectKey={projectKey} source={source} />
      <SourceCredential projectKey={projectKey} source={source} />
      <SourceWebhook projectKey={projectKey} source={source} />
      <SourceStatus projectKey={projectKey} source={source} />
    </>
  );
}

type OwnProps = { readonly projectKey: ProjectKey; readonly source: RepositorySourceView };

/** A repository of this instance: its pushes are noticed at once. */
function OwnRepository({ projectKey, source }: OwnProps) {
  const { problem, pushedAt, name } = source;
  const mayBuild = useMay("build.start");
  return (
    <>
      {problem ? (
        <Callout tone="warn" title="Pushes aren't followed">
          {problem.message} First failed <RelativeTime time={problem.since} />.
        </Callout>
      ) : null}
      <p className="text-sm">
        {pushedAt === null ? (
          "Nothing was pushed yet."
        ) : (
          <>
            Last push <RelativeTime time={pushedAt} />
          </>
        )}
        <span className="block text-xs text-muted">It is on this instance, which builds a push at once.</span>
      </p>
      {mayBuild ? <UploadVersion projectKey={projectKey} source={source} /> : null}
      <Followed projectKey={projectKey} source={source} />
      <GitCommands orgSlug={projectKey.orgSlug} repository={name} />
    </>
  );
}

/** No branch of Git has this name (git-check-ref-format(1)). */
const defaultBranchValue = "*";

/** The branch that goes live, and whether others get previews. */
function Followed({ projectKey, source }: { readonly projectKey: ProjectKey; readonly source: FollowedSourceView }) {
  const { busy, failure, apply } = useSourceChange(projectKey);
  return (
    <div className="flex flex-col gap-4">
      <LiveBranch projectKey={projectKey} source={source} hint="Pushes to it go live." />
      <Failure>{failure}</Failure>
      <SwitchField
        id="source-previews"
        label="Previews of other branches"
        checked={source.previews}
        readOnly={busy}
        onChange={(next) => void apply(() => updateSource({ data: { ...projectKey, previews: next } }))}
      >
        A push to another branch gets a server with its own URL.
      </SwitchField>
    </div>
  );
}

type LiveBranchProps = {
  readonly projectKey: ProjectKey;
  readonly source: Pick<FollowedSourceView, "branch" | "branches" | "defaultBranch">;
  readonly hint: string;
};

/** The branch that goes live: the repository's default branch, or a chosen one. */
function LiveBranch({ projectKey, source: { branch, branches, defaultBranch }, hint }: LiveBranchProps) {
  const { busy, failure, apply } = useSourceChange(projectKey);
  const chosen = branch ?? defaultBranch;
  const names = branches.includes(chosen) ? branches : [chosen, ...branches];
  return (
    <SelectField
      label="Branch"
      error={failure}
      hint={hint}
      className="sm:max-w-80"
      disabled={busy}
      value={branch ?? defaultBranchValue}
      onChange={(next) =>
        void apply(() => updateSource({ data: { ...projectKey, branch: next === defaultBranchValue ? null : next } }))
      }
      options={[
        {
          value: defaultBranchValue,
          label: branch === null ? `The repository's default (${defaultBranch})` : "The repository's default",
        },
        ...names.map((name) => ({ value: name, label: name })),
      ]}
    />
  );
}
