import { versionText } from "@towpath/core/delivery/build/version/schema";
import { type LiveVersion, nextVersionText, rolledBackText } from "~/features/project/delivery/live-version.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { OneWayButton } from "./go-live-dialog.tsx";

type RolledBackProps = {
  readonly project: ProjectKey;
  readonly branch: string;
  readonly live: LiveVersion | null;
};

/** After a rollback: the live version, a button to return, and what the next push does (PRJ-14). */
export function RolledBack({ project, branch, live }: RolledBackProps) {
  if (!live?.isRolledBack) return null;
  return (
    <Callout
      tone="info"
      title={rolledBackText(live)}
      actions={<MakeNewestLive project={project} branch={branch} live={live} />}
    >
      {live.rolledBackFrom ? `The newest version, ${versionText(live.rolledBackFrom)}, isn't live. ` : null}
      {nextVersionText(live, branch)}
    </Callout>
  );
}

type MakeNewestLiveProps = {
  readonly project: ProjectKey;
  readonly branch: string;
  readonly live: LiveVersion | null;
  readonly size?: "sm";
};

/** Leads forward again; nothing where the role doesn't allow it, and when the newest version was removed. */
export function MakeNewestLive({ project, branch, live, size }: MakeNewestLiveProps) {
  const mayBuild = useMay("build.start");
  const newest = live?.rolledBackFrom;
  if (!mayBuild || !newest) return null;
  const version = { ...newest, id: newest.buildId, branch: { name: branch }, deployment: { id: newest.deploymentId } };
  return (
    <OneWayButton
      project={project}
      way="make-live"
      version={version}
      label="Make newest live"
      {...(size && { size })}
    />
  );
}
