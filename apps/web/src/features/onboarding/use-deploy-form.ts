import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type AuthMode, entrypointProblem, requirementsProblem } from "@towpath/core/project/schema";
import { useState } from "react";
import { profileQuery } from "~/features/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { deployRepository } from "./onboarding.functions.ts";
import type { Variables } from "./use-variables.ts";

export type DeployAddress = { readonly installationId: number; readonly owner: string; readonly repo: string };
type Values = { readonly entrypoint: string; readonly requirements: string; readonly authMode: AuthMode };

/** Fields that show the server's message beside them; all others are shown above the form. */
const shownFields = new Set(["name", "entrypoint", "requirements"]);

/** The form of server-deploy: values, what is wrong with each, and sending it (VAL-2, VAL-3). */
export function useDeployForm(orgSlug: string, address: DeployAddress, variables: Variables, initial: Values) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [values, setValues] = useState(initial);
  const [touched, setTouched] = useState(false);
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const found = {
    entrypoint: entrypointProblem(values.entrypoint),
    requirements: requirementsProblem(values.requirements),
  };

  const change = (changed: Partial<Values>) => {
    setValues({ ...values, ...changed });
    setRefused(Object.fromEntries(Object.entries(refused).filter(([field]) => !(field in changed))));
  };

  const submit = async (name: string) => {
    setTouched(true);
    variables.showAllProblems();
    if (found.entrypoint || found.requirements || !variables.isValid) return;
    setBusy(true);
    setFailure(null);
    try {
      const secrets = [...variables.filled];
      const { installationId, owner, repo } = address;
      const repository = { installationId, repositoryFullName: `${owner}/${repo}` };
      const data = { orgSlug, name, ...repository, ...values, requirements: values.requirements || null };
      const { projectName, buildId } = await deployRepository({ data: { ...data, secrets } });
      await queryClient.invalidateQueries(profileQuery);
      const params = { orgSlug, projectName };
      if (buildId === null) await navigate({ to: "/$orgSlug/$projectName/deployments", params });
      else await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...params, buildId } });
    } catch (error) {
      const fields = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      setRefused(fields);
      const isBesideItsField = Object.keys(fields).some((field) => shownFields.has(field));
      if (!isBesideItsField) setFailure(failureText(error));
      setBusy(false);
    }
  };

  const problem = (field: "entrypoint" | "requirements") =>
    refused[field] ?? (touched || values[field] !== initial[field] ? found[field] : null);
  return { values, change, submit, busy, failure, problem, nameRefused: refused.name ?? null };
}
