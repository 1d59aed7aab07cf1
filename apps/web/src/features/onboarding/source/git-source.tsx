import type { GitSourceView } from "@towpath/core/sources/source";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Followed } from "./live-branch.tsx";
import { SourceChecked } from "./source-checked.tsx";
import { SourceCredential } from "./source-credential.tsx";
import { SourceStatus } from "./source-status.tsx";
import { SourceWebhook } from "./source-webhook.tsx";

type GitProps = { readonly projectKey: ProjectKey; readonly source: GitSourceView };

/** A Git URL: how its pushes are noticed, and how Towpath signs in. */
export function GitUrl({ projectKey, source }: GitProps) {
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
