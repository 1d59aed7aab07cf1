import { Link } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/delivery/build";
import type { BuildWarning, SettingsSection } from "@towpath/core/delivery/build/contract";
import { namedVersion } from "@towpath/core/delivery/build/version/schema";
import { CircleCheck, SquareTerminal, TriangleAlert, UserPlus } from "lucide-react";
import { ConnectButton } from "~/features/project/clients/connect-button.tsx";
import { ApprovalPanel } from "~/features/project/release/approval-panel.tsx";
import { buildDuration, withWarnings } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Duration } from "~/ui/duration.tsx";
import { AuthModeButton } from "./auth-mode-button.tsx";
import { BuildWarnings } from "./build-warnings.tsx";
import { NextChange } from "./next-change.tsx";
import { SettingsLink } from "./settings-link.tsx";
import { SurfaceChanges } from "./surface-changes.tsx";

const shownNames = 12;

/** A successful build: the server's URL, the build's warnings, and the server's items. */
export function SuccessPanel({ project, build }: { project: ProjectKey; build: BuildView }) {
  const { deployment, manifest, warnings } = build;
  const isFine = warnings.length === 0;
  const duration = buildDuration(build);
  const isDefault = build.branch.name === build.project.defaultBranch;
  return (
    <section
      aria-labelledby="success-title"
      className={classNames("overflow-hidden rounded-lg border bg-surface", isFine ? "border-ok/35" : "border-warn/35")}
    >
      <div
        className={classNames(
          "flex flex-wrap items-center gap-x-6 gap-y-3 px-4 py-3.5",
          isFine ? "bg-ok-soft" : "bg-warn-soft",
        )}
      >
        <div className="flex min-w-0 flex-1 basis-72 gap-3">
          {isFine ? (
            <CircleCheck className="mt-0.5 size-5 shrink-0 text-ok" />
          ) : (
            <TriangleAlert className="mt-0.5 size-5 shrink-0 text-warn" />
          )}
          <div className="min-w-0">
            <h2 id="success-title" className="text-lg font-semibold tracking-tight">
              {deployment?.isLive ? (deployment.isProd ? "Live" : "Live preview") : "Built"}
              {withWarnings(warnings.length)}
              {duration !== null && (
                <span className="font-normal">
                  {" "}
                  after <Duration ms={duration} />
                </span>
              )}
            </h2>
            <p className="text-sm text-ink/85">
              {deployment?.isLive
                ? `Calls to this URL reach ${namedVersion(build)}.`
                : build.release?.state === "running"
                  ? `${build.release.share} % of new sessions at this URL reach ${namedVersion(build)}.`
                  : build.branch.isEnded
                    ? "This preview has ended: its branch was deleted or its pull request closed."
                    : "Another version is live at this URL."}
              {build.pythonVersion && ` Python ${build.pythonVersion}.`}
            </p>
          </div>
        </div>
        {deployment && !build.branch.isEnded && (
          <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">
            <ServerUrl url={deployment.url} className="bg-surface" />
            <ConnectButton projectKey={project} {...(!isDefault && { branchId: build.branch.id })} />
            <Link
              to="/$orgSlug/$projectName/inspector"
              params={project}
              search={isDefault ? {} : { branchId: build.branch.id }}
              className={buttonLook()}
            >
              <SquareTerminal /> Open inspector
            </Link>
            {build.trigger === "quickstart" || build.trigger === "import" ? (
              <InviteLink orgSlug={project.orgSlug} />
            ) : null}
          </div>
        )}
      </div>
      <div className="p-4 pb-0 empty:hidden">
        <BuildWarnings
          warnings={warnings}
          actionOf={(warning) => <WarningAction project={project} warning={warning} />}
        />
      </div>
      <div className="p-4 pb-0 empty:hidden">
        <ApprovalPanel project={project} build={build} />
        {build.release?.state === "went-back" && !deployment?.isLive ? (
          <Callout tone="warn" title="Went back">
            {build.release.reason} The version before serves all sessions.
          </Callout>
        ) : null}
      </div>
      <SurfaceChanges project={project} buildId={build.id} className="border-b px-4 py-3.5" />
      {manifest && (
        <dl className="grid gap-x-6 gap-y-2 px-4 py-3.5 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
          <Offered label="Tools" names={manifest.tools.map((tool) => tool.tool_name)} />
          <Offered label="Resources" names={manifest.resources.map((resource) => resource.uri)} />
          <Offered label="Templates" names={manifest.templates.map((template) => template.uriTemplate)} />
          <Offered label="Prompts" names={manifest.prompts.map((prompt) => prompt.prompt_name)} />
        </dl>
      )}
      {deployment?.isLive ? <NextChange project={project} branch={build.branch.name} /> : null}
    </section>
  );
}

/** Where the settings may end a warning. */
const sections: Readonly<Partial<Record<BuildWarning["code"], SettingsSection>>> = {
  empty_passed_over: "build",
  incomplete: "build",
  nothing_offered: "variables",
  other_servers: "build",
};

/**
 * A button that ends a warning or opens the settings that may; nothing for warnings that only a change of code ends.
 */
function WarningAction({ project, warning }: { project: ProjectKey; warning: BuildWarning }) {
  const section = sections[warning.code];
  return section === undefined ? (
    <AuthModeButton project={project} warning={warning} />
  ) : (
    <SettingsLink project={project} section={section} />
  );
}

/** After the first build of a server, for whoever may invite: the next step of the welcome flow (ONB-7). */
function InviteLink({ orgSlug }: { orgSlug: string }) {
  if (!useMay("member.manage")) return null;
  return (
    <Link to="/$orgSlug/welcome/invite-teammates" params={{ orgSlug }} className={buttonLook()}>
      <UserPlus /> Invite teammates
    </Link>
  );
}

function Offered({ label, names }: { label: string; names: readonly string[] }) {
  const more = names.length - shownNames;
  return (
    <>
      <dt className="text-muted">
        {label} <span className="tabular text-faint">{names.length}</span>
      </dt>
      <dd className="flex min-w-0 flex-wrap gap-1.5">
        {names.length === 0 && <span className="text-faint">none</span>}
        {names.slice(0, shownNames).map((name) => (
          <code key={name} className="max-w-full truncate rounded-sm bg-hover px-1.5 py-px text-xs leading-5">
            {name}
          </code>
        ))}
        {more > 0 && <span className="text-muted">and {more} more</span>}
      </dd>
    </>
  );
}
