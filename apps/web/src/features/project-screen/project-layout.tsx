import { useSuspenseQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import {
  Activity,
  FileText,
  Gauge,
  KeyRound,
  LayoutTemplate,
  MessageSquareText,
  MessagesSquare,
  Plug,
  Rocket,
  Settings,
  ShieldCheck,
  SquareTerminal,
  Stethoscope,
  Users,
  Wrench,
} from "lucide-react";
import type { ReactNode } from "react";
import { type SidebarGroup, SidebarLayout } from "~/ui/sidebar-layout.tsx";
import { useMay } from "../session/guards.ts";
import { ProjectHeader } from "./project-header.tsx";
import type { ProjectKey } from "./project-key.schema.ts";
import { projectQuery } from "./project-screen.functions.ts";

/** Groups without items are not shown. */
function sidebarGroups(
  key: ProjectKey,
  onBuild: boolean,
  may: { readonly readClients: boolean; readonly adminJwt: boolean },
): readonly SidebarGroup[] {
  return [
    {
      label: "Connect",
      items: [
        {
          label: "Inspector",
          icon: <SquareTerminal aria-hidden />,
          link: { to: "/$orgSlug/$projectName/inspector", params: key },
        },
        ...(may.readClients
          ? [
              {
                label: "Clients",
                icon: <Plug aria-hidden />,
                link: { to: "/$orgSlug/$projectName/clients", params: key },
              } as const,
              {
                label: "Sign-ins",
                icon: <Stethoscope aria-hidden />,
                link: { to: "/$orgSlug/$projectName/sign-ins", params: key },
              } as const,
            ]
          : []),
        ...(may.adminJwt
          ? [
              {
                label: "Admin JWT",
                icon: <KeyRound aria-hidden />,
                link: { to: "/$orgSlug/$projectName/admin-jwt", params: key },
              } as const,
            ]
          : []),
      ],
    },
    {
      label: "Server",
      items: [
        {
          label: "Deployments",
          icon: <Rocket aria-hidden />,
          link: { to: "/$orgSlug/$projectName/deployments", params: key },
          active: onBuild,
        },
        { label: "Logs", icon: <Activity aria-hidden />, link: { to: "/$orgSlug/$projectName/logs", params: key } },
        {
          label: "Access",
          icon: <ShieldCheck aria-hidden />,
          link: { to: "/$orgSlug/$projectName/access", params: key },
        },
        {
          label: "Limits",
          icon: <Gauge aria-hidden />,
          link: { to: "/$orgSlug/$projectName/limits", params: key },
        },
        {
          label: "Settings",
          icon: <Settings aria-hidden />,
          link: { to: "/$orgSlug/$projectName/settings", params: key },
        },
      ],
    },
    {
      label: "Analytics",
      items: [
        {
          label: "Sessions",
          icon: <MessagesSquare aria-hidden />,
          link: { to: "/$orgSlug/$projectName/sessions", params: key },
        },
        { label: "Users", icon: <Users aria-hidden />, link: { to: "/$orgSlug/$projectName/users", params: key } },
        {
          label: "Tools",
          icon: <Wrench aria-hidden />,
          link: { to: "/$orgSlug/$projectName/tools/{-$toolName}", params: key },
        },
        {
          label: "Resources",
          icon: <FileText aria-hidden />,
          link: { to: "/$orgSlug/$projectName/resources/{-$resourceName}", params: key },
        },
        {
          label: "Templates",
          icon: <LayoutTemplate aria-hidden />,
          link: { to: "/$orgSlug/$projectName/resource-templates/{-$templateName}", params: key },
        },
        {
          label: "Prompts",
          icon: <MessageSquareText aria-hidden />,
          link: { to: "/$orgSlug/$projectName/prompts/{-$promptName}", params: key },
        },
      ],
    },
  ];
}

/** Header and navigation around every screen of a project. */
export function ProjectLayout({ projectKey, children }: { projectKey: ProjectKey; children: ReactNode }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const onBuild = useLocation({ select: ({ pathname }) => /\/(build|server)-logs\//.test(pathname) });
  const may = { readClients: useMay("client.read"), adminJwt: useMay("adminJwt.manage") };
  return (
    <>
      <ProjectHeader project={project} />
      <SidebarLayout label={`Screens of ${project.name}`} groups={sidebarGroups(projectKey, onBuild, may)}>
        {children}
      </SidebarLayout>
    </>
  );
}
