import type { ProjectView } from "@towpath/core/projects/project";
import { accessOf, clientGuides } from "@towpath/mcp/connect";
import { GuideTabs } from "~/features/shared/project-screen/guide-tabs.tsx";

/** How to connect each client to a server. */
export default function ProjectGuides({ project }: { readonly project: ProjectView }) {
  return <GuideTabs guides={clientGuides(project, accessOf(project.authMode))} />;
}
