import type { ProjectView } from "@towpath/core/projects/project";
import { isRepository, sourceName } from "~/features/shared/project-screen/source-names.ts";
import { NoBuildsDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";

type NoBuildsProps = {
  readonly project: ProjectView;
  /** The one whose builds are listed; undefined: all. */
  readonly branch: string | undefined;
};

/** In place of the builds, before the first one. */
export default function NoBuilds({ project, branch }: NoBuildsProps) {
  return (
    <EmptyState
      drawing={<NoBuildsDrawing />}
      title={branch === undefined ? "No builds yet" : `No builds of ${branch} yet`}
      example={
        project.package ? null : { code: `git push origin HEAD:${branch ?? project.defaultBranch}`, label: "command" }
      }
      docs={["previews", "Previews and rollbacks"]}
    >
      Push a commit to <code>{branch ?? project.defaultBranch}</code>
      {isRepository(project.source) && (
        <>
          {" "}
          of <code>{sourceName(project.source)}</code>
        </>
      )}{" "}
      to build and deploy it.
    </EmptyState>
  );
}
