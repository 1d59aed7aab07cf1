import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { AuthModeChoice } from "../onboarding/auth-mode-choice.tsx";
import { PathField } from "../onboarding/path-field.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.queries.ts";
import { SavedNote } from "./saved-note.tsx";
import type { Saved } from "./settings-page.tsx";
import { useBuildSettings } from "./use-build-settings.ts";

/** Entrypoint, requirements file and auth mode (PRJ-11, VAL-2, VAL-3). */
export function BuildSettings({
  projectKey,
  saved,
  onSaved,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const form = useBuildSettings(projectKey, project, onSaved);
  return (
    <Card id="build" className="scroll-mt-24">
      <CardHeader
        title="Build"
        description="Entrypoint and requirements take effect with the next build; who may call it, at once."
      />
      <CardBody>
        <form
          noValidate
          aria-label="Build"
          className="flex flex-col gap-5"
          onSubmit={(event) => {
            event.preventDefault();
            void form.submit();
          }}
        >
          {form.failure ? (
            <Callout tone="bad" title="The settings were not saved">
              {form.failure}
            </Callout>
          ) : null}
          <PathField
            label="Entrypoint"
            hint={
              <>
                The file of the server, with its object when that is not <code>mcp</code>, <code>server</code> or{" "}
                <code>app</code>: <code>server.py:object</code>
              </>
            }
            error={form.problem("entrypoint")}
            value={form.values.entrypoint}
            onChange={(entrypoint) => form.change({ entrypoint })}
            candidates={[]}
          />
          <PathField
            label="Requirements file"
            optional
            hint="Only when dependencies are neither in uv.lock nor in pyproject.toml."
            error={form.problem("requirements")}
            value={form.values.requirements}
            onChange={(requirements) => form.change({ requirements })}
            candidates={[]}
          />
          <AuthModeChoice value={form.values.authMode} onChange={(authMode) => form.change({ authMode })} />
          <Button type="submit" variant="primary" busy={form.busy} className="self-start">
            Save
          </Button>
          <SavedNote projectKey={projectKey} saved={saved} of={["build", "access"]} />
        </form>
      </CardBody>
    </Card>
  );
}
