import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { startQuickstart } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { oauthUrlQuery } from "~/features/organization/github/github-user.functions.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";

type Grant = { readonly url: string; readonly repository: string };

/** The link that starts a quickstart at GitHub (ONB-3). */
export const quickstartUrlQuery = (orgSlug: string, serverName: string) =>
  oauthUrlQuery({ orgSlug, state: { purpose: "quickstart", serverName } });

/**
 * Runs the quickstart (ONB-4): to GitHub by the prepared link, and after the return (`resume`: the server's name) once on
 * to the build.
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
      search: (known) => ({ ...known, serverName, isCreating: undefined, error }),
      replace: true,
      resetScroll: false,
    });

  const attempt = async (serverName: string, work: () => Promise<void>) => {
    setBusy(true);
    setNameProblem(null);
    setGrant(null);
    try {
      await work();
    } catch (error) {
      const fields = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      const fieldProblem = fields.serverName ?? fields.name ?? fields["state.serverName"];
      setNameProblem(fieldProblem ?? null);
      await stay(serverName, fieldProblem ? undefined : failureText(error));
      setBusy(false);
    }
  };

  const start = (serverName: string) =>
    attempt(serverName, async () => {
      window.location.assign(await queryClient.fetchQuery(quickstartUrlQuery(orgSlug, serverName)));
    });

  const create = (serverName: string) =>
    attempt(serverName, async () => {
      const result = await startQuickstart({ data: { orgSlug, serverName } });
      if (result.kind === "created") {
        await queryClient.invalidateQueries(profileQuery);
        const params = { orgSlug, projectName: result.projectName };
        const { buildId } = result;
        if (buildId === null) return navigate({ to: "/$orgSlug/$projectName/deployments", params, replace: true });
        const to = "/$orgSlug/$projectName/build-logs/$buildId";
        return navigate({ to, params: { ...params, buildId }, replace: true });
      }
      // `authorize`: GitHub has revoked the authorization meanwhile. A link alone must not start one again.
      if (result.kind === "grant") setGrant(result);
      await stay(serverName, result.kind === "authorize" ? "GitHub asks you to authorize Towpath again." : undefined);
      setBusy(false);
    });

  // biome-ignore lint/correctness/useExhaustiveDependencies: only once, when the page opens
  useEffect(() => {
    if (resume === null || resumed.current) return;
    resumed.current = true;
    void create(resume);
  }, []);

  return { busy, isCreating: busy && resume !== null, start, nameProblem, grant };
}
