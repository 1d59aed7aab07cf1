import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { useState } from "react";
import { EmptyState } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { useMay } from "../session/guards.ts";
import { BuildSettings } from "./build-settings.tsx";
import { CaptureSettings } from "./capture-settings.tsx";
import type { Saved } from "./saved-note.tsx";
import { removeProject } from "./settings.functions.ts";
import { settingsHeader } from "./settings-states.tsx";
import { VariableSettings } from "./variable-settings.tsx";

/** A project's settings (PRJ-11, KEY-1). */
export function SettingsPage({ projectKey, mayChange }: { projectKey: ProjectKey; mayChange: boolean }) {
  const [saved, setSaved] = useState<Saved>(null);
  const mayDelete = useMay("project.delete");
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  return (
    <>
      {settingsHeader}
      {mayChange ? (
        <div className="flex max-w-4xl flex-col gap-5">
          <BuildSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
          <CaptureSettings projectKey={projectKey} />
          <VariableSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
          {mayDelete ? <DeleteProject projectKey={projectKey} name={project.name} /> : null}
        </div>
      ) : (
        <EmptyState icon={<Lock aria-hidden />} title="Your role can't change settings">
          As a viewer you can see what runs. To change it, ask an owner or admin of this team to make you a member.
        </EmptyState>
      )}
    </>
  );
}

/** The end of a project (PRJ-11). `name` is what it is called; its address may say it otherwise. */
function DeleteProject({ projectKey, name }: { projectKey: ProjectKey; name: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { orgSlug } = projectKey;
  const remove = async (confirmation: string) => {
    await removeProject({ data: { ...projectKey, confirmation } });
    await navigate({ to: "/$orgSlug/servers", params: { orgSlug }, replace: true });
    // After the page has changed: its queries would ask for what is gone.
    await queryClient.invalidateQueries();
  };
  return (
    <Card id="delete">
      <CardHeader title="Delete project" description="Ends the server and removes everything Towpath keeps of it." />
      <CardBody>
        <ConfirmDeletion label="Delete project" name={name} onConfirm={remove}>
          <p>This deletes for everyone in the team:</p>
          <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
            <li>the server's address and those of its previews; open connections end</li>
            <li>all builds, deployments and environment variables</li>
            <li>the request log, server logs and build logs</li>
          </ul>
          <p className="mt-2">The repository at GitHub stays as it is. The name can be taken again.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
