import { useSuspenseQuery } from "@tanstack/react-query";
import type { DataUsage } from "@towpath/core/operations/data-volume";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { SwitchSetting } from "./switch-settings.tsx";

/** `/data` of hosted servers, and how full it is (BLD-19). */
export function DataSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
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
