import { useSuspenseQuery } from "@tanstack/react-query";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const minutesOfResults = [0, 5, 10, 30, 60, 360, 1440];
const minutesOfCalls = [1, 5, 15, 60, 180, 720, 1440];

/** For how long calls go on that lose their client, and their results are kept (CAP-2). */
export function KeptCallsSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  // Each by itself: while one is saved, the other can be changed.
  const results = useProjectSwitch<number>(projectKey, (keepResultsMinutes) =>
    updateProject({ data: { ...projectKey, keepResultsMinutes } }),
  );
  const calls = useProjectSwitch<number>(projectKey, (unattendedMinutes) =>
    updateProject({ data: { ...projectKey, unattendedMinutes } }),
  );
  const { keepResultsMinutes, unattendedMinutes, authMode } = project;
  const isKept = keepResultsMinutes > 0;
  return (
    <SettingCard
      id="kept-calls"
      title="Calls whose client leaves"
      description="A tool call goes on when its connection breaks, and the same client gets the result when it asks again, instead of a second run. Clients that know tasks get one, also from a server without them."
      failure={results.failure ?? calls.failure}
      status={isKept ? `Results are kept for ${nameOf(keepResultsMinutes)}.` : "Calls end with their connection."}
    >
      <NumberChoice
        id="keep-results"
        label="Keep results"
        value={keepResultsMinutes}
        choices={minutesOfResults}
        nameOf={nameOf}
        onChange={(minutes) => void results.change(minutes)}
      >
        Encrypted, and only for the caller who made the call. Off: Towpath offers no tasks.
      </NumberChoice>
      <NumberChoice
        id="unattended-minutes"
        label="Let calls run without their client"
        value={unattendedMinutes}
        choices={minutesOfCalls}
        nameOf={nameOf}
        onChange={(minutes) => void calls.change(minutes)}
      >
        A redeploy, and a server that would go to sleep, wait for calls under way: for those without a client for so
        long at most.
      </NumberChoice>
      {isKept && authMode === "passthrough" ? (
        <Callout tone="info">
          This server decides who can call it, so Towpath can't tell callers apart and keeps nothing for them.
        </Callout>
      ) : null}
    </SettingCard>
  );
}

/** 0 is off. */
function nameOf(minutes: number): string {
  if (minutes === 0) return "Off";
  if (minutes % 60 !== 0) return minutes === 1 ? "1 minute" : `${minutes} minutes`;
  return minutes === 60 ? "1 hour" : `${minutes / 60} hours`;
}
