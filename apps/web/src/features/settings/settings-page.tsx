import { useSuspenseQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { useState } from "react";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.queries.ts";
import { useMay } from "../session/use-may.ts";
import { BuildSettings } from "./build-settings.tsx";
import { CaptureSettings } from "./capture-settings.tsx";
import { DeleteProject } from "./delete-project.tsx";
import type { Saved } from "./saved-note.tsx";
import { VariableSettings } from "./variable-settings.tsx";

export const settingsHeader = (
  <PageHeader
    title="Settings"
    description="What is built, who can call it, what its log keeps, and the server's environment variables."
  />
);

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
