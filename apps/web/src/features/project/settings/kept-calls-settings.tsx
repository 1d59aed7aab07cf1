import { useSuspenseQuery } from "@tanstack/react-query";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const minutesOfResults = [0, 5, 10, 30, 60, 360, 1440];
const minutesOfCalls = [1, 5, 15, 60, 180, 720, 1440];

/** For how long calls go on that lose their client, and their results are kept (CAP-2). */
export function KeptCallsSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const results = useProjectSwitch(projectKey, "keepResultsMinutes");
  const calls = useProjectSwitch(projectKey, "unattendedMinutes");
  const isKept = results.value > 0;
  return (
    <SettingCard
      id="kept-calls"
      title="Calls whose client leaves"
      description="A tool call goes on when its connection breaks, and the same client gets the result when it asks again, instead of a second run. Clients that know tasks get one, also from a server without them."
      failure={results.failure ?? calls.failure}
      status={isKept ? `Results are kept for ${nameOf(results.value)}.` : "Calls end with their connection."}
    >
      <NumberChoice
        id="keep-results"
        label="Keep results"
        value={results.value}
        choices={minutesOfResults}
        nameOf={nameOf}
        onChange={(minutes) => results.change(() => minutes)}
      >
        Encrypted, and only for the caller who made the call. Off: Towpath offers no tasks.
      </NumberChoice>
      <NumberChoice
        id="unattended-minutes"
        label="Let calls run without their client"
        value={calls.value}
        choices={minutesOfCalls}
        nameOf={nameOf}
        onChange={(minutes) => calls.change(() => minutes)}
      >
        A new version, and a server that would go to sleep, wait for calls under way: for those without a client for so
        long at most.
      </NumberChoice>
      {isKept && project.authMode === "passthrough" ? (
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
