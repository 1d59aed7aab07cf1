import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { splitArguments } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import { isCanceled } from "~/features/onboarding/upload/use-upload.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { type BuildValues, useBuildFields } from "./build-fields.tsx";
import type { Variable } from "./env-block.ts";
import type { Variables } from "./use-variables.ts";

/** Fields that show their errors themselves; all others are shown above the form. */
const shownFields = new Set(["name", "entrypoint", "arguments", "requirements", "rootDirectory"]);

/** Input for a new server from any source. */
type NewServer = Omit<BuildValues, "arguments" | "requirements"> & {
  readonly orgSlug: string;
  readonly name: string;
  readonly arguments: string[];
  readonly requirements: string | null;
  readonly secrets: Variable[];
};

/** Creates it. `buildId`: its first build; null when nothing has been pushed. */
type Deploy = (server: NewServer) => Promise<{ readonly projectName: string; readonly buildId: string | null }>;

/** State of a form that deploys a repository: values, errors and submission (VAL-2, VAL-3). */
export function useDeployForm(orgSlug: string, deploy: Deploy, variables: Variables, initial: BuildValues) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const fields = useBuildFields(initial);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (name: string) => {
    const areFieldsValid = fields.check();
    variables.showAllProblems();
    if (!areFieldsValid || !variables.isValid) return;
    const { values } = fields;
    setBusy(true);
    setFailure(null);
    fields.setRefused({});
    try {
      const secrets = [...variables.filled];
      const build = {
        entrypoint: values.entrypoint.trim(),
        arguments: [...(splitArguments(values.arguments) ?? [])],
        requirements: values.requirements || null,
      };
      const { projectName, buildId } = await deploy({ orgSlug, name, ...values, ...build, secrets });
      await queryClient.invalidateQueries({ queryKey: ["servers", orgSlug] });
      await queryClient.invalidateQueries(profileQuery);
      const params = { orgSlug, projectName };
      if (buildId === null) await navigate({ to: "/$orgSlug/$projectName/deployments", params });
      else await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...params, buildId } });
    } catch (error) {
      setBusy(false);
      if (isCanceled(error)) return;
      const refused = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      fields.setRefused(refused);
      const isAtField = Object.keys(refused).some((field) => shownFields.has(field));
      if (!isAtField) setFailure(failureText(error));
    }
  };

  return { fields, submit, busy, failure };
}
