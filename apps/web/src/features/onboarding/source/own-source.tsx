import type { RepositorySourceView } from "@towpath/core/sources/source";
import { UploadVersion } from "~/features/onboarding/upload/upload-version.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { GitCommands } from "./git-commands.tsx";
import { Followed } from "./live-branch.tsx";

type OwnProps = { readonly projectKey: ProjectKey; readonly source: RepositorySourceView };

/** A repository of this instance: its pushes are noticed at once. */
export function OwnRepository({ projectKey, source }: OwnProps) {
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
