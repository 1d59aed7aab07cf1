import { useSuspenseQuery } from "@tanstack/react-query";
import { Callout } from "~/ui/callout.tsx";
import { Switch } from "~/ui/checkbox.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { SettingCard } from "./setting-card.tsx";
import { updateProject } from "./settings.functions.ts";
import { useProjectSwitch } from "./use-project-switch.ts";

/** Turns the signed assertion of who calls on or off (GW-11), and says what the server is told. */
export function IdentitySettings({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { busy, failure, change } = useProjectSwitch(projectKey, (identityAssertion) =>
    updateProject({ data: { ...projectKey, identityAssertion } }),
  );
  return (
    <SettingCard
      id="identity"
      title="Caller identity"
      description="What the server is told of who calls it."
      failure={failure}
      status={project.identityAssertion ? "The identity is signed." : "The identity is not signed."}
    >
      {project.authMode === "towpath-cloud" ? null : (
        <Callout tone="info">
          Towpath knows who calls only where only members may call. This server is told nothing.
        </Callout>
      )}
      <div className="flex items-start gap-3">
        <Switch
          id="identity-assertion"
          checked={project.identityAssertion}
          readOnly={busy}
          onChange={(checked) => void change(checked)}
          aria-describedby="identity-assertion-note"
        />
        <div className="text-sm">
          <label htmlFor="identity-assertion" className="font-medium">
            Sign the caller's identity
          </label>
          <ul id="identity-assertion-note" className="mt-1.5 list-disc space-y-1 pl-5 text-muted marker:text-faint">
            <li>
              Each request has <code>towpath-actor</code> headers with the caller's id, type, role and e-mail address;
              clients can't forge them.
            </li>
            <li>
              When this is on, <code>towpath-assertion</code> says the same in a JWT that lives 60 seconds and that the
              server can verify, for code that trusts no plain header.
            </li>
          </ul>
        </div>
      </div>
    </SettingCard>
  );
}
