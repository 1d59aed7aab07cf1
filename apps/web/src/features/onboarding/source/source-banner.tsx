import { Link } from "@tanstack/react-router";
import type { SourceSummary } from "@towpath/core/sources/source";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";

type SourceBannerProps = {
  readonly projectKey: ProjectKey;
  readonly source: SourceSummary | null;
};

/** That a Git repository can't be followed, or soon can't; nothing while all is well. */
export function SourceBanner({ projectKey, source }: SourceBannerProps) {
  if (source?.kind !== "git" && source?.kind !== "repository") return null;
  const { problem } = source;
  const { credentialEndsSoon, host } = source.kind === "git" ? source : { credentialEndsSoon: false, host: "" };
  if (problem === null && !credentialEndsSoon) return null;
  return (
    <Callout
      tone="warn"
      title={problem === null ? `The token for ${host} ends soon` : "Pushes aren't followed"}
      actions={
        <Link
          to="/$orgSlug/$projectName/settings"
          params={projectKey}
          hash="source"
          className={buttonLook({ size: "sm" })}
        >
          Open source settings
        </Link>
      }
    >
      {problem === null ? (
        "Pushes aren't followed once it has ended. What is live stays."
      ) : (
        <>
          {problem.message} First failed <RelativeTime time={problem.since} />. What is live stays.
        </>
      )}
    </Callout>
  );
}
