import { useSuspenseQuery } from "@tanstack/react-query";
import { sourceKinds } from "@towpath/core/sources/source/kind/schema";
import { Lock } from "lucide-react";
import { useState } from "react";
import type { FromGitHub } from "~/features/onboarding/source/continue-on-github.types.ts";
import { SourceSettings } from "~/features/onboarding/source/source-settings.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { EmptyState } from "~/ui/empty-state.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { SectionLinks } from "~/ui/section-links.tsx";
import { GeneralSettings } from "./general-settings.tsx";
import { LateSections } from "./late-sections.tsx";
import type { Saved } from "./saved-changes.tsx";
import { settingsHeader } from "./settings-states.tsx";

// Of some servers only.
const pending = <Skeleton className="h-72 w-full" />;
const ExternalSettings = lazyPart(
  async () => (await import("~/features/onboarding/external-server/external-settings.tsx")).ExternalSettings,
  pending,
);
const PackageSettings = lazyPart(async () => (await import("./package-settings.tsx")).PackageSettings, pending);

type Shown = {
  readonly kind: "hosted" | "external" | "portal";
  readonly isPackage: boolean;
  readonly hasChecks: boolean;
  readonly mayDelete: boolean;
};

/** The sections of the page, in their order: by the ids of their cards. */
function sectionsOf({
  kind,
  isPackage,
  hasChecks,
  mayDelete,
}: Shown): readonly (readonly [id: string, title: string])[] {
  const isHosted = kind === "hosted";
  const all: readonly (readonly [isShown: boolean, id: string, title: string])[] = [
    [true, "general", "General"],
    [isHosted, "source", "Source"],
    [isPackage, "package", "Package"],
    [isHosted, "build", "Build"],
    [kind === "external", "server", "Address"],
    [true, "domains", "Domains"],
    [true, "alerts", "Alerts"],
    [hasChecks, "pull-requests", "Pull requests"],
    [true, "request-log", "Request log"],
    [kind !== "portal", "identity", "Caller identity"],
    [isHosted, "sleep", "While asleep"],
    [isHosted, "releases", "Releases"],
    [isHosted, "data", "Data"],
    [isHosted, "variables", "Environment variables"],
    [isHosted, "export", "Export"],
    [mayDelete, "delete", "Delete"],
  ];
  return all.flatMap(([isShown, id, title]) => (isShown ? [[id, title] as const] : []));
}

type SettingsPageProps = {
  readonly projectKey: ProjectKey;
  readonly mayChange: boolean;
  readonly fromGitHub: FromGitHub | null;
};

/** A project's settings (PRJ-11, KEY-1). */
export function SettingsPage({ projectKey, mayChange, fromGitHub }: SettingsPageProps) {
  const [saved, setSaved] = useState<Saved>(null);
  const mayDelete = useMay("project.delete");
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const isHosted = project.kind === "hosted";
  return (
    <>
      {isHosted ? settingsHeader : <PageHeader title="Settings" description="Where it is, and what its log keeps." />}
      {mayChange ? (
        <div className="flex flex-col gap-5 xl:flex-row-reverse xl:justify-end xl:gap-8">
          <SectionLinks
            sections={sectionsOf({
              kind: project.kind,
              mayDelete,
              isPackage: project.package !== null,
              hasChecks: project.source !== null && sourceKinds[project.source.kind].reports === "checks",
            })}
          />
          <div className="flex w-full max-w-4xl flex-col gap-5">
            <GeneralSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
            {isHosted ? <SourceSettings projectKey={projectKey} back={fromGitHub} /> : null}
            {project.package ? <PackageSettings projectKey={projectKey} name={project.package.name} /> : null}
            {project.kind === "external" ? <ExternalSettings projectKey={projectKey} /> : null}
            <LateSections projectKey={projectKey} mayDelete={mayDelete} saved={saved} onSaved={setSaved} />
          </div>
        </div>
      ) : (
        <EmptyState icon={<Lock />} title="Your role can't change settings">
          Viewers can see what runs, but not change it. Ask an owner or admin of this organization to make you a member.
        </EmptyState>
      )}
    </>
  );
}
