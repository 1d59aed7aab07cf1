import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { rootProblem } from "../onboarding/use-file-checks.ts";
import { ChangeForm, type ChangeProps, useChangeSource } from "./change-form.tsx";
import { FoundSummary } from "./found-source.tsx";
import { SourceField } from "./source-field.tsx";
import { useSourceLook } from "./use-source-look.ts";

/** To a Git URL, at which Towpath looks first. `onPackage`: the text names a package. */
export function ChangeToGitUrl({
  projectKey,
  source,
  onPackage,
}: ChangeProps & { readonly onPackage: (named: { readonly name: string; readonly version: string }) => void }) {
  const look = useSourceLook(projectKey.orgSlug, { text: "", branch: null });
  const [previews, setPreviews] = useState(source.kind === "git" && source.previews);
  const form = useChangeSource(projectKey);
  const { found, source: pasted } = look;
  const change = found
    ? {
        ...{ gitUrl: found.url, previews, credential: look.sentCredential },
        branch: look.branch ?? (found.branch === found.defaultBranch ? null : found.branch),
      }
    : null;
  return (
    <ChangeForm source={source} change={change} form={form}>
      <SourceField look={look} label="Repository's URL" hint="The new place of the code." />
      {pasted?.kind === "package" ? (
        <Callout
          tone="info"
          title="This names a package"
          actions={
            <Button onClick={() => onPackage({ name: pasted.name, version: pasted.version ?? "" })}>
              Use the package {pasted.name}
            </Button>
          }
        >
          Choose it instead of a Git URL.
        </Callout>
      ) : pasted !== null && pasted.kind !== "git" ? (
        <Callout tone="info">
          This names a registry entry. Choose “A package” above, and enter the name of the package that it runs.
        </Callout>
      ) : null}
      {found ? (
        <>
          <FoundSummary found={found} isLooking={look.isLooking} onBranch={look.setBranch} />
          {rootProblem(found, { rootDirectory: "", entrypoint: "" }) === null ? null : (
            <Callout tone="warn" title="This repository has several servers">
              Before you change the source, set the root directory of one under Build.
            </Callout>
          )}
          <Checkbox checked={previews} onChange={setPreviews} disabled={form.busy}>
            Previews of other branches
          </Checkbox>
        </>
      ) : null}
    </ChangeForm>
  );
}
