import { useSuspenseQuery } from "@tanstack/react-query";
import { ReleaseSettings } from "~/features/project/release/release-settings.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { AlertSettings } from "./alert-settings.tsx";
import { BuildSettings } from "./build-settings.tsx";
import { DataSettings } from "./data-settings.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { DomainSettings } from "./domain-settings.tsx";
import { ErrorRateSettings } from "./error-rate-settings.tsx";
import { ExportProject } from "./export-project.tsx";
import { KeptCallsSettings } from "./kept-calls-settings.tsx";
import { QuestionSettings } from "./question-settings.tsx";
import { ReplaySettings } from "./replay-settings.tsx";
import type { Saved } from "./saved-changes.tsx";
import { SleepSettings } from "./sleep-settings.tsx";
import { SwitchSettings } from "./switch-settings.tsx";
import { VariableSettings } from "./variable-settings.tsx";

type LowerSectionsProps = {
  readonly projectKey: ProjectKey;
  readonly mayDelete: boolean;
  readonly saved: Saved;
  readonly onSaved: (saved: Saved) => void;
};

/** A project's settings, from its build's on (PRJ-11, KEY-1). */
export function LowerSections({ projectKey, mayDelete, saved, onSaved }: LowerSectionsProps) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const isHosted = project.kind === "hosted";
  return (
    <div className="flex flex-col gap-5">
      {isHosted ? <BuildSettings projectKey={projectKey} saved={saved} onSaved={onSaved} /> : null}
      <DomainSettings projectKey={projectKey} />
      <AlertSettings projectKey={projectKey} />
      <SwitchSettings projectKey={projectKey} />
      <ErrorRateSettings projectKey={projectKey} />
      {project.kind === "portal" ? null : <KeptCallsSettings projectKey={projectKey} />}
      {isHosted ? (
        <>
          <SleepSettings projectKey={projectKey} />
          <ReplaySettings projectKey={projectKey} />
          <QuestionSettings projectKey={projectKey} />
          <ReleaseSettings projectKey={projectKey} />
          <DataSettings projectKey={projectKey} />
          <VariableSettings projectKey={projectKey} saved={saved} onSaved={onSaved} />
          <ExportProject projectKey={projectKey} isLive={project.isLive} />
        </>
      ) : null}
      {mayDelete ? <DeleteProject projectKey={projectKey} name={project.name} kind={project.kind} /> : null}
    </div>
  );
}
