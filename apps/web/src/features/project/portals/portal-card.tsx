import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PortalView } from "@towpath/core/projects/portal";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { AuthModeBadge } from "~/features/shared/project-screen/project-labels.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Badge } from "~/ui/badge.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { portalQuery } from "./portals.functions.ts";

/** On a portal's overview: its servers, their offered items, and who reaches them (ORG-3). */
export function PortalCard({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: portal } = useSuspenseQuery(portalQuery(projectKey));
  const mayChange = useMay("project.update");
  return (
    <Card className="overflow-hidden">
      <CardHeader
        title="Servers"
        description="Callers reach only servers they can call directly."
        actions={
          <Link to="/$orgSlug/$projectName/servers" params={projectKey} className={buttonLook()}>
            {mayChange ? "Choose servers and tools" : "Servers and tools"}
          </Link>
        }
      />
      {portal.servers.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">Its servers were deleted. Choose others, or delete the portal.</p>
      ) : (
        <ul className="divide-y border-t">
          {portal.servers.map((server) => (
            <li key={server.projectId} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 text-sm">
              <Link
                to="/$orgSlug/$projectName"
                params={{ orgSlug: projectKey.orgSlug, projectName: server.pathName }}
                className="min-w-0 truncate font-medium underline-offset-3 hover:underline"
              >
                {server.name}
              </Link>
              <AuthModeBadge mode={server.authMode} />
              {server.problem ? <Badge tone="warn">{problems[server.problem]}</Badge> : null}
              <span className="tabular ml-auto text-muted">{offerOf(server)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const problems = { not_live: "Not live", own_sign_in: "Not reachable: it has its own sign-in" } as const;

function offerOf({ tools, resources, prompts }: PortalView["servers"][number]): string {
  const count = (items: typeof tools) => items.filter(({ exposed }) => exposed !== null).length;
  const parts = [
    [count(tools), "tool"],
    [count(resources), "resource"],
    [count(prompts), "prompt"],
  ] as const;
  const texts = parts.flatMap(([number, noun]) =>
    number === 0 ? [] : [`${number} ${noun}${number === 1 ? "" : "s"}`],
  );
  return texts.length === 0 ? "Nothing" : texts.join(", ");
}
