import { useSuspenseQuery } from "@tanstack/react-query";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { offersQuery } from "./inspector.functions.ts";
import { Panes, type PanesProps } from "./panes.tsx";

const NoLists = lazyPart(async () => (await import("./inspector-states.tsx")).NoLists);

/** Lists, forms and results for one branch's live server. */
export function InspectorWorkbench(props: Omit<PanesProps, "project" | "manifest">) {
  const { projectKey, branch } = props;
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: found } = useSuspenseQuery(offersQuery(projectKey, branch?.deploymentId ?? null));
  const { manifest } = found;
  if (manifest) return <Panes {...props} project={project} manifest={manifest} />;
  return <NoLists warnings={found.warnings} isHosted={project.kind === "hosted"} />;
}
