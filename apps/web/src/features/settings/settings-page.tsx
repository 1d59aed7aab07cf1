import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ProjectKind } from "@towpath/core/project";
import { Lock } from "lucide-react";
import { useState } from "react";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { ExternalAccess } from "../external-server/external-access.tsx";
import { ExternalSettings } from "../external-server/external-settings.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { useMay } from "../session/guards.ts";
import { BuildSettings } from "./build-settings.tsx";
import { GeneralSettings } from "./general-settings.tsx";
import type { Saved } from "./saved-note.tsx";
import { removeProject } from "./settings.functions.ts";
import { settingsHeader } from "./settings-states.tsx";
import { SleepSettings } from "./sleep-settings.tsx";
import { SwitchSettings } from "./switch-settings.tsx";
import { VariableSettings } from "./variable-settings.tsx";

/** A project's settings (PRJ-11, KEY-1). */
export function SettingsPage({ projectKey, mayChange }: { projectKey: ProjectKey; mayChange: boolean }) {
  const [saved, setSaved] = useState<Saved>(null);
  const mayDelete = useMay("project.delete");
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const isHosted = project.kind === "hosted";
  return (
    <>
      {isHosted ? (
        settingsHeader
      ) : (
        <PageHeader title="Settings" description="Where it is, who can call it, and what its log keeps." />
      )}
      {mayChange ? (
        <div className="flex max-w-4xl flex-col gap-5">
          <GeneralSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
          {isHosted ? <BuildSettings projectKey={projectKey} saved={saved} onSaved={setSaved} /> : null}
          {project.kind === "external" ? <ExternalSettings projectKey={projectKey} /> : null}
          {isHosted ? null : <ExternalAccess projectKey={projectKey} />}
          <SwitchSettings projectKey={projectKey} />
          {isHosted ? (
            <>
              <SleepSettings projectKey={projectKey} />
              <VariableSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
            </>
          ) : null}
          {mayDelete ? <DeleteProject projectKey={projectKey} name={project.name} kind={project.kind} /> : null}
        </div>
      ) : (
        <EmptyState icon={<Lock aria-hidden />} title="Your role can't change settings">
          Viewers can see what runs, but not change it. Ask an owner or admin of this team to make you a member.
        </EmptyState>
      )}
    </>
  );
}

const unchanged = {
  hosted: "The GitHub repository is not changed.",
  external: "The server itself is not changed.",
  portal: "Its servers are not changed.",
} as const satisfies Record<ProjectKind, string>;

/** Deletes the project (PRJ-11). `name` is its exact name; the URL may spell it differently. */
function DeleteProject({ projectKey, name, kind }: { projectKey: ProjectKey; name: string; kind: ProjectKind }) {
  const isHosted = kind === "hosted";
  const isPortal = kind === "portal";
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { orgSlug } = projectKey;
  const remove = async (confirmation: string) => {
    await removeProject({ data: { ...projectKey, confirmation } });
    await navigate({ to: isPortal ? "/$orgSlug/portals" : "/$orgSlug/servers", params: { orgSlug }, replace: true });
    // Only after navigating away: this page's queries would refetch the deleted project.
    await queryClient.invalidateQueries();
  };
  return (
    <Card id="delete">
      <CardHeader
        title="Delete project"
        description={
          isHosted
            ? "Stops the server and deletes everything that Towpath stores for it."
            : "Closes its address here and deletes everything that Towpath stores for it."
        }
      />
      <CardBody>
        <ConfirmDeletion label="Delete project" name={name} onConfirm={remove}>
          <p>This deletes, for everyone in the team:</p>
          <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
            {isHosted ? (
              <>
                <li>the server's address and those of its previews; open connections end</li>
                <li>all builds, deployments and environment variables</li>
                <li>the request log, server logs and build logs</li>
              </>
            ) : (
              <>
                <li>its address at Towpath; open connections end</li>
                <li>{isPortal ? "its" : "its credential,"} access rules and limits</li>
                <li>the request log</li>
              </>
            )}
          </ul>
          <p className="mt-2">{unchanged[kind]} The name becomes available again.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
