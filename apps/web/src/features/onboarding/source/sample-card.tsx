import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Button } from "~/ui/button.tsx";
import { failureText } from "~/ui/toast.ts";
import { deploySample } from "./source.functions.ts";

/** Deploys the sample in one click, and opens its build (SRC-4). */
export function useSample(orgSlug: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (serverName: string) => deploySample({ data: { orgSlug, serverName } }),
    onSuccess: async ({ projectName, buildId }) => {
      await queryClient.invalidateQueries({ queryKey: ["servers", orgSlug] });
      await queryClient.invalidateQueries(profileQuery);
      const params = { orgSlug, projectName, buildId };
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params });
    },
  });
  return { deploy: mutate, busy: isPending, failure: error ? failureText(error) : null };
}

/** The sample, for whoever has no server yet. */
export function SampleCard({ orgSlug, serverName }: { readonly orgSlug: string; readonly serverName: string }) {
  const { deploy, busy, failure } = useSample(orgSlug);
  return (
    <section
      aria-label="Try the sample"
      className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-lg border bg-surface px-4 py-4"
    >
      <Rocket className="size-5 shrink-0 text-accent-text" />
      <div className="min-w-0 flex-1 basis-52">
        <p className="text-sm font-medium">Try the sample</p>
        <p className="text-xs text-muted">
          A small echo server in a repository of your own, live in a minute as <code>{serverName}</code>.
        </p>
        {failure === null ? null : (
          <p role="alert" className="mt-1 text-xs text-bad">
            {failure}
          </p>
        )}
      </div>
      <Button busy={busy} icon={<Rocket />} onClick={() => deploy(serverName)}>
        Deploy the sample
      </Button>
    </section>
  );
}
