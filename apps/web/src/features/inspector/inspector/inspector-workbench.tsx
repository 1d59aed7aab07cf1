import { useSuspenseQuery } from "@tanstack/react-query";
import { BuildWarnings } from "~/features/project/build/build-warnings.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { EmptyState } from "~/ui/empty-state.tsx";
import { offersQuery } from "./inspector.functions.ts";
import { Panes, type PanesProps } from "./panes.tsx";

/** Lists, forms and results for one branch's live server. */
export function InspectorWorkbench(props: Omit<PanesProps, "project" | "manifest">) {
  const { projectKey, branch } = props;
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: found } = useSuspenseQuery(offersQuery(projectKey, branch?.deploymentId ?? null));
  const { manifest } = found;
  if (manifest) return <Panes {...props} project={project} manifest={manifest} />;
  const why = found.warnings.find((warning) => warning.code === "lists_not_read");
  if (why) return <BuildWarnings warnings={[why]} />;
  return (
    <EmptyState title="This server's tools, resources and prompts can't be listed">
      {project.kind === "hosted"
        ? "This version of Towpath can't read the live build's manifest. Rebuild the server."
        : "The last check couldn't read them. Check the server again in its settings."}
    </EmptyState>
  );
}
