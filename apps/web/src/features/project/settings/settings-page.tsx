import { useSuspenseQuery } from "@tanstack/react-query";
import type { DataUsage } from "@towpath/core/operations/data-volume";
import { sourceKinds } from "@towpath/core/sources/source/kind/schema";
import { Lock } from "lucide-react";
import { useState } from "react";
import type { FromGitHub } from "~/features/onboarding/source/continue-on-github.types.ts";
import { SourceSettings } from "~/features/onboarding/source/source-settings.tsx";
import { ReleaseSettings } from "~/features/project/release/release-settings.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { SectionLinks } from "~/ui/section-links.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { AlertSettings } from "./alert-settings.tsx";
import { BuildSettings } from "./build-settings.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { DomainSettings } from "./domain-settings.tsx";
import { ErrorRateSettings } from "./error-rate-settings.tsx";
import { ExportProject } from "./export-project.tsx";
import { GeneralSettings } from "./general-settings.tsx";
import type { Saved } from "./saved-changes.tsx";
import { settingsHeader } from "./settings-states.tsx";
import { SleepSettings } from "./sleep-settings.tsx";
import { SwitchSetting, SwitchSettings } from "./switch-settings.tsx";
import { VariableSettings } from "./variable-settings.tsx";

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
            {project.package ? <PackageSettings projectKey={projectKey} running={project.package} /> : null}
            {isHosted ? <BuildSettings projectKey={projectKey} saved={saved} onSaved={setSaved} /> : null}
            {project.kind === "external" ? <ExternalSettings projectKey={projectKey} /> : null}
            <DomainSettings projectKey={projectKey} />
            <AlertSettings projectKey={projectKey} />
            <SwitchSettings projectKey={projectKey} />
            <ErrorRateSettings projectKey={projectKey} />
            {isHosted ? (
              <>
                <SleepSettings projectKey={projectKey} />
                <ReleaseSettings projectKey={projectKey} />
                <DataSettings projectKey={projectKey} />
                <VariableSettings projectKey={projectKey} saved={saved} onSaved={setSaved} />
                <ExportProject projectKey={projectKey} isLive={project.isLive} />
              </>
            ) : null}
            {mayDelete ? <DeleteProject projectKey={projectKey} name={project.name} kind={project.kind} /> : null}
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

/** `/data` of hosted servers, and how full it is (BLD-19). */
function DataSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  return (
    <SwitchSetting projectKey={projectKey} setting="keepsData">
      {project.data === null ? null : <UsedSpace {...project.data} isOn={project.keepsData} />}
    </SwitchSetting>
  );
}

/** In our own colors: the browser's bar looks full in a dark page. Chromium and Safari, then Firefox. */
const meterLook = [
  "block h-2 w-full max-w-xs appearance-none overflow-hidden rounded-full bg-line",
  "[&::-webkit-meter-bar]:h-2 [&::-webkit-meter-bar]:border-0 [&::-webkit-meter-bar]:bg-line [&::-webkit-meter-bar]:bg-none",
  "[&::-webkit-meter-optimum-value]:bg-accent [&::-webkit-meter-optimum-value]:bg-none",
  "[&::-webkit-meter-suboptimum-value]:bg-warn [&::-webkit-meter-suboptimum-value]:bg-none",
  "[&::-moz-meter-bar]:bg-accent",
].join(" ");

function UsedSpace({ usedBytes, capacityBytes, measuredAt, isOn }: DataUsage & { readonly isOn: boolean }) {
  const isFull = usedBytes > capacityBytes * 0.9;
  return (
    <div className="space-y-2 text-sm">
      <meter
        aria-label="Used space of /data"
        className={meterLook}
        min={0}
        max={capacityBytes}
        high={capacityBytes * 0.9}
        value={usedBytes}
      />
      <p className="text-muted">
        {megabytes(usedBytes)} of {megabytes(capacityBytes)} used, measured <RelativeTime time={measuredAt} />
        {isOn ? "." : ". The files are still there."}
      </p>
      {isFull ? <Callout tone="warn">Almost full. Writes fail once there is no space left.</Callout> : null}
    </div>
  );
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;
