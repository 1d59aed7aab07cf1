import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { profileQuery } from "~/features/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { startQuickstart } from "./onboarding.functions.ts";

type Grant = { readonly url: string; readonly repository: string };

/**
 * Runs the quickstart (ONB-4): goes to GitHub if authorization is needed, then to the build. `resume` is the server name
 * to continue with, once, after the browser returns from GitHub.
 */
export function useQuickstart(orgSlug: string, resume: string | null) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(resume !== null);
  const [nameProblem, setNameProblem] = useState<string | null>(null);
  const [grant, setGrant] = useState<Grant | null>(null);
  const resumed = useRef(false);

  const stay = (serverName: string, error?: string) =>
    navigate({
      to: "/$orgSlug/welcome/server-setup",
      params: { orgSlug },
      search: { serverName, ...(error ? { error } : {}) },
      replace: true,
    });

  const start = async (serverName: string) => {
    setBusy(true);
    setNameProblem(null);
    setGrant(null);
    try {
      const result = await startQuickstart({ data: { orgSlug, serverName } });
      if (result.kind === "authorize") return window.location.assign(result.url);
      if (result.kind === "created") {
        await queryClient.invalidateQueries(profileQuery);
        const { projectName, buildId } = result;
        if (buildId === null)
          return await navigate({ to: "/$orgSlug/$projectName/deployments", params: { orgSlug, projectName } });
        return await navigate({
          to: "/$orgSlug/$projectName/build-logs/$buildId",
          params: { orgSlug, projectName, buildId },
        });
      }
      setGrant(result);
      await stay(serverName);
    } catch (error) {
      const fields = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      const fieldProblem = fields.serverName ?? fields.name;
      setNameProblem(fieldProblem ?? null);
      await stay(serverName, fieldProblem ? undefined : failureText(error));
    }
    setBusy(false);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only once, when the page opens
  useEffect(() => {
    if (resume === null || resumed.current) return;
    resumed.current = true;
    void start(resume);
  }, []);

  return { busy, start, nameProblem, clearNameProblem: () => setNameProblem(null), grant };
}
