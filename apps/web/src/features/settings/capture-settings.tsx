import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Switch } from "~/ui/checkbox.tsx";
import { formatAbsoluteTime } from "~/ui/time.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { SettingCard } from "./setting-card.tsx";
import { captureChangeQuery, updateProject } from "./settings.functions.ts";
import { useProjectSwitch } from "./use-project-switch.ts";

/** Turns the capture of payloads on or off (GW-7), and says what it stores. */
export function CaptureSettings({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { busy, failure, change } = useProjectSwitch(projectKey, (capturePayloads) =>
    updateProject({ data: { ...projectKey, capturePayloads } }),
  );
  return (
    <SettingCard
      id="request-log"
      title="Request log"
      description="What the log stores about each call besides its method, time and outcome."
      failure={failure}
      status={project.capturePayloads ? "Payloads are kept." : "Payloads are not kept."}
    >
      <div className="flex items-start gap-3">
        <Switch
          id="capture-payloads"
          checked={project.capturePayloads}
          readOnly={busy}
          onChange={(checked) => void change(checked)}
          aria-describedby="capture-payloads-note"
        />
        <div className="text-sm">
          <label htmlFor="capture-payloads" className="font-medium">
            Keep payloads
          </label>
          <ul id="capture-payloads-note" className="mt-1.5 list-disc space-y-1 pl-5 text-muted marker:text-faint">
            <li>Stores what clients send and what the server returns, up to 64 KiB each.</li>
            <li>Everyone in this team can read them in the log, viewers included.</li>
            <li>Of larger ones the beginning is kept, and the log says so.</li>
            <li>
              Values of environment variables of six or more characters are replaced by their names, and fields whose
              names look like secrets (password, token, API key, authorization) are blanked. Other secrets are kept.
            </li>
            <li>
              Payloads are kept as long as their log rows. Turning this off affects new calls only and deletes nothing.
            </li>
          </ul>
        </div>
      </div>
      <LastChange projectKey={projectKey} isOn={project.capturePayloads} />
    </SettingCard>
  );
}

/** Who is responsible for the setting as it is. */
function LastChange({ projectKey, isOn }: { projectKey: ProjectKey; isOn: boolean }) {
  const { data: change } = useQuery(captureChangeQuery(projectKey));
  if (!change) return null;
  return (
    <p className="text-sm text-muted">
      Turned {isOn ? "on" : "off"} by {change.by ?? "the operator"} on {formatAbsoluteTime(Date.parse(change.at))}.
    </p>
  );
}
