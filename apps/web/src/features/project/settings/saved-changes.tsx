import { useSuspenseQuery } from "@tanstack/react-query";
import { RedeployButton } from "~/features/project/build/redeploy-button.tsx";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Announced } from "~/ui/callout.tsx";

/** The last saved section. */
export type Saved = "general" | "name" | "build" | "watch" | "variables" | null;

const needsBuild = ["name", "build", "variables"] as const satisfies readonly Saved[];

const titles: Readonly<Record<NonNullable<Saved>, string>> = {
  general: "Saved.",
  name: "Renamed. The new address works from now on.",
  build: "Saved. It takes effect with the next build.",
  watch: "Saved. It applies to the next push.",
  variables: "Saved. It takes effect with the next build.",
};

type SavedChangesProps = {
  projectKey: ProjectKey;
  saved: Saved;
  /** The changes that belong to this section. */
  of: readonly Saved[];
};

/** After saving, shows when the change takes effect, and a button for the build that it needs. */
export function SavedChanges({ projectKey, saved, of }: SavedChangesProps) {
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const newest = branches.find((branch) => branch.isDefault)?.latestBuild ?? null;
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const isHosted = project.kind === "hosted";
  const isBuilt = isHosted && needsBuild.some((each) => each === saved);
  return (
    <Announced
      when={of.includes(saved)}
      tone="ok"
      title={saved && titles[saved]}
      actions={isBuilt && newest ? <RedeployButton project={projectKey} buildId={newest.id} variant="primary" /> : null}
    >
      {saved === "variables" ? "The live server keeps its old variables until you rebuild. " : null}
      {saved === "name" && isBuilt && newest
        ? "If the server has its own sign-in pages, rebuild so they use the new address. "
        : null}
      {isBuilt && saved !== "name" && !newest ? "Nothing has been pushed yet. The first push starts a build." : null}
    </Announced>
  );
}
