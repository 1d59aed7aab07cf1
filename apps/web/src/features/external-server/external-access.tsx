import { useSuspenseQuery } from "@tanstack/react-query";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { type AddedMode, addedModes } from "../onboarding/add-page.tsx";
import { AuthModeChoice } from "../onboarding/build-fields.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { updateProject } from "../settings/settings.functions.ts";
import { useProjectSwitch } from "../settings/use-project-switch.ts";

/** Who may call a server that doesn't run here, or a portal; saves at once (PRJ-12). */
export function ExternalAccess({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { failure, change } = useProjectSwitch<AddedMode>(projectKey, (authMode) =>
    updateProject({ data: { ...projectKey, authMode } }),
  );
  const value = project.authMode === "towpath-public" ? "towpath-public" : "towpath-cloud";
  return (
    <Card id="access" className="scroll-mt-24">
      <CardHeader title="Callers" description="Towpath checks callers before they reach the server." />
      <CardBody className="flex flex-col gap-4">
        {failure ? (
          <Callout tone="bad" title="The setting was not saved">
            {failure}
          </Callout>
        ) : null}
        <AuthModeChoice value={value} onChange={(mode) => void change(mode)} modes={addedModes} />
        <p role="status" className="sr-only">
          {value === "towpath-cloud" ? "Only members may call." : "Anyone may call."}
        </p>
      </CardBody>
    </Card>
  );
}
