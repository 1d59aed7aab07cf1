import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { argumentWords } from "@towpath/core/project/schema";
import { useState } from "react";
import { profileQuery } from "~/features/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { type BuildValues, useBuildFields } from "./build-fields.tsx";
import type { DeployAddress } from "./deploy-search.ts";
import { deployRepository } from "./onboarding.functions.ts";
import type { Variables } from "./use-variables.ts";

/** Fields that show the server's errors themselves; all other errors are shown above the form. */
const shownFields = new Set(["name", "entrypoint", "arguments", "requirements", "rootDirectory"]);

/** State of the server-deploy form: values, errors and submission (VAL-2, VAL-3). */
export function useDeployForm(orgSlug: string, address: DeployAddress, variables: Variables, initial: BuildValues) {
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
      const { installationId, owner, repo } = address;
      const repository = { installationId, repositoryFullName: `${owner}/${repo}` };
      const build = {
        entrypoint: values.entrypoint.trim(),
        arguments: [...(argumentWords(values.arguments) ?? [])],
        requirements: values.requirements || null,
      };
      const data = { orgSlug, name, ...repository, ...values, ...build };
      const { projectName, buildId } = await deployRepository({ data: { ...data, secrets } });
      await queryClient.invalidateQueries(profileQuery);
      const params = { orgSlug, projectName };
      if (buildId === null) await navigate({ to: "/$orgSlug/$projectName/deployments", params });
      else await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...params, buildId } });
    } catch (error) {
      const refused = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      fields.setRefused(refused);
      const isBesideItsField = Object.keys(refused).some((field) => shownFields.has(field));
      if (!isBesideItsField) setFailure(failureText(error));
      setBusy(false);
    }
  };

  return { fields, submit, busy, failure };
}
