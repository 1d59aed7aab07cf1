import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import { Check, Plus } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { liveState } from "~/features/shared/project-screen/project-labels.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { ProjectIcon } from "~/features/shell/navigation/project-icon.tsx";
import { StatusDot } from "~/ui/badge.tsx";
import { Switcher } from "~/ui/switcher.tsx";
import { hasScreen, useOpenScreen } from "./shell-location.ts";

/** A server goes live, crashes or is rolled back while its page is open. */
const stateRefetchMs = 15_000;

type ServerSwitcherProps = {
  readonly open: ProjectKey;
  /** Those of the organization. */
  readonly projects: ProfileView["projects"];
  readonly permissions: OrganizationAccessView["permissions"];
  readonly className?: string;
};

/** Shows the open server or portal and switches to another one, on the same screen if it has that. */
export function ServerSwitcher({ open, projects, permissions, className }: ServerSwitcherProps) {
  const { data: project } = useQuery({ ...projectQuery(open), refetchInterval: stateRefetchMs });
  const state = project && liveState(project);
  const screen = useOpenScreen();
  const { history } = useRouter();
  const choicesOf = (chosen: ProfileView["projects"]) =>
    chosen.map((each) => ({
      id: each.id,
      label: each.name,
      icon: each.id === project?.id ? <Check /> : <ProjectIcon project={each} />,
      run: () => {
        const target = { orgSlug: open.orgSlug, projectName: each.pathName, kind: each.kind };
        history.push(`/${open.orgSlug}/${each.pathName}${hasScreen(target, permissions, screen) ? screen : ""}`);
      },
    }));
  const create = [
    { id: "create", label: "New server", path: "servers/new" },
    { id: "create-portal", label: "New portal", path: "portals/new" },
  ].map(({ path, ...action }) => ({
    ...action,
    icon: <Plus />,
    run: () => history.push(`/${open.orgSlug}/${path}`),
  }));
  const isPortal = ({ kind }: ProfileView["projects"][number]) => kind === "portal";
  const groups = [
    { label: "Servers", items: choicesOf(projects.filter((each) => !isPortal(each))) },
    { label: "Portals", items: choicesOf(projects.filter(isPortal)) },
    { label: "Actions", items: permissions.includes("project.create") ? create : [] },
  ];
  return (
    <Switcher
      label="Switch server"
      placeholder="Find a server or portal"
      groups={groups}
      empty="No server or portal has that name."
      className={className ?? ""}
      icon={
        <>
          <StatusDot tone={state?.tone ?? "neutral"} />
          {project?.iconUrl ? <img src={project.iconUrl} alt="" className="size-5 rounded-sm" /> : null}
        </>
      }
    >
      {project?.name ?? open.projectName}
      {state ? <span className="sr-only">, {state.label}</span> : null}
    </Switcher>
  );
}
