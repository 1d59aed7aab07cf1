import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SourceView } from "@towpath/core/source";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { FoundSummary } from "./found-source.tsx";
import { changeSource } from "./source.functions.ts";
import { SourceField } from "./source-field.tsx";
import { useSourceLook } from "./use-source-look.ts";

/** Another Git URL for the server; everything else of it stays (SRC-1). */
export function ChangeSource({ projectKey, source }: { readonly projectKey: ProjectKey; readonly source: SourceView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="Change source" className="flex flex-col gap-4 border-t pt-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56 text-sm">
          <h3 className="font-medium">Change source</h3>
          <p className="text-muted">Build this server from another repository, by its Git URL.</p>
        </div>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Cancel" : "Change source"}
        </Button>
      </div>
      {isOpen ? <ChangeForm projectKey={projectKey} source={source} /> : null}
    </section>
  );
}

function ChangeForm({ projectKey, source }: { readonly projectKey: ProjectKey; readonly source: SourceView }) {
  const look = useSourceLook(projectKey.orgSlug, { text: "", branch: null });
  const [previews, setPreviews] = useState(source.kind === "git" && source.previews);
  const { busy, failure, run } = useSubmitted(projectKey);
  const { found, source: pasted } = look;
  return (
    <form
      noValidate
      aria-label="Change source"
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!found) return;
        const named = look.branch ?? (found.branch === found.defaultBranch ? null : found.branch);
        const credential = look.sentCredential;
        void run({ gitUrl: found.url, branch: named, previews, credential });
      }}
    >
      <SourceField look={look} label="Repository's URL" hint="The new place of the code." />
      {pasted !== null && pasted.kind !== "git" ? (
        <Callout tone="info">
          This names a {pasted.kind === "package" ? "package" : "registry entry"}. A server's source can be changed to a
          Git URL only.
        </Callout>
      ) : null}
      {found ? (
        <>
          <FoundSummary found={found} isLooking={look.isLooking} onBranch={look.setBranch} />
          <Checkbox checked={previews} onChange={setPreviews} disabled={busy}>
            Previews of other branches
          </Checkbox>
          <Callout tone="info" title="What happens">
            The newest commit there is built now, and goes live if that succeeds. Name, address, variables, settings,
            logs and deployments stay. Previews {source.kind === "package" ? "" : "of the old repository "}end, and its
            credential and webhook secret are removed here.
          </Callout>
          {failure ? (
            <Callout tone="bad" title="The source was not changed">
              {failure}
            </Callout>
          ) : null}
          <Button type="submit" variant="primary" busy={busy} className="self-start">
            Change source and build
          </Button>
        </>
      ) : null}
    </form>
  );
}

type Change = Omit<Parameters<typeof changeSource>[0]["data"], keyof ProjectKey>;

function useSubmitted(projectKey: ProjectKey) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { problems, busy, run } = useSubmit();
  return {
    busy,
    failure: Object.values(problems)[0] ?? null,
    run: (change: Change) =>
      run(async () => {
        const { buildId } = await changeSource({ data: { ...projectKey, ...change } });
        void queryClient.invalidateQueries();
        await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...projectKey, buildId } });
      }),
  };
}
