import { Link } from "@tanstack/react-router";
import type { ProjectDetailView } from "@towpath/core/project";
import { GitBranch, Plug } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { Breadcrumbs } from "~/ui/page-header.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { AuthModeBadge, LiveLabel, ServerUrl } from "./project-labels.tsx";

/** Header of every project screen: name, status, auth mode, URL and how to connect. */
export function ProjectHeader({ project }: { project: ProjectDetailView }) {
  return (
    <section aria-label="This server" className="border-b">
      <div className="mx-auto flex w-full max-w-[96rem] flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-6 lg:px-5">
        <div className="flex min-w-0 flex-1 basis-72 flex-wrap items-center gap-x-3 gap-y-1.5">
          <Breadcrumbs
            label="Server"
            items={[
              {
                key: "servers",
                content: (
                  <Link to="/$orgSlug/servers" params={{ orgSlug: project.orgSlug }}>
                    Servers
                  </Link>
                ),
              },
              { key: "project", content: project.name },
            ]}
          />
          <LiveLabel server={project} className="text-xs text-muted" />
          <AuthModeBadge mode={project.authMode} />
          {project.githubRepository && (
            <span className="inline-flex min-w-0 items-center gap-1 text-xs text-muted">
              <GitBranch className="size-3.5 shrink-0" aria-hidden />
              <span className="truncate">{project.githubRepository.fullName}</span>
            </span>
          )}
        </div>
        <div className="flex max-w-full min-w-0 items-center gap-2">
          <ServerUrl url={project.url} />
          <Drawer
            title={`Connect to ${project.name}`}
            className="w-[min(38rem,100vw)]"
            trigger={
              <Button variant="primary" icon={<Plug aria-hidden />}>
                Connect
              </Button>
            }
          >
            <ConnectPanel project={project} />
          </Drawer>
        </div>
      </div>
    </section>
  );
}
