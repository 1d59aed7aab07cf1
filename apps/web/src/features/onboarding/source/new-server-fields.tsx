import { type ReactNode, useState } from "react";
import { AuthModeChoice, BuildFields } from "~/features/onboarding/server-form/build-fields.tsx";
import { ServerNameField, type useServerName } from "~/features/onboarding/server-form/server-name-field.tsx";
import type { useDeployForm } from "~/features/onboarding/server-form/use-deploy-form.ts";
import { offersWithin, rootProblem } from "~/features/onboarding/server-form/use-file-checks.ts";
import type { useVariables } from "~/features/onboarding/server-form/use-variables.ts";
import { EnvironmentVariables } from "~/features/onboarding/server-form/variable-fields.tsx";
import type { FoundSource } from "./use-source-look.ts";

type Offers = Pick<FoundSource, "entrypoints" | "projects" | "requirementFiles" | "variables">;

type NewServerFieldsProps = {
  readonly choice: ReturnType<typeof useServerName>;
  readonly urlTemplate: string;
  readonly form: ReturnType<typeof useDeployForm>;
  readonly variables: ReturnType<typeof useVariables>;
  readonly found: Offers;
};

/** Fields of a new server from any source; `found`: candidates. */
export function NewServerFields({ choice, urlTemplate, form, variables, found }: NewServerFieldsProps) {
  const { values } = form.fields;
  return (
    <>
      <ServerNameField choice={choice} urlTemplate={urlTemplate} error={form.fields.refused.name ?? null} />
      <BuildSettings
        isToChoose={rootProblem(found, values) !== null}
        hasProblem={buildFields.some((field) => form.fields.problem(field) !== null)}
      >
        <BuildFields fields={form.fields} {...offersWithin(values.rootDirectory, found)} />
      </BuildSettings>
      <EnvironmentVariables variables={variables} offered={found.variables} />
      <AuthModeChoice value={values.authMode} onChange={(authMode) => form.fields.change({ authMode })} />
    </>
  );
}

const buildFields = ["entrypoint", "arguments", "requirements", "rootDirectory"] as const;

type BuildSettingsProps = {
  readonly isToChoose: boolean;
  readonly hasProblem: boolean;
  readonly children: ReactNode;
};

/** Folded, because a build finds these itself. */
function BuildSettings({ isToChoose, hasProblem, children }: BuildSettingsProps) {
  const [isOpen, setOpen] = useState(isToChoose);
  const isShown = isOpen || hasProblem;
  return (
    <details
      open={isShown}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-lg border bg-surface"
    >
      <summary className="cursor-pointer rounded-lg px-4 py-2.5 text-sm font-medium">
        Build settings
        <span className="ml-2 font-normal text-muted">
          {isToChoose ? "Several servers: choose the root directory of one" : "Entrypoint, arguments, files"}
        </span>
      </summary>
      <div className="flex flex-col gap-6 border-t px-4 py-4">{children}</div>
    </details>
  );
}
