import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PackageFields } from "~/features/onboarding/package/package-fields.tsx";
import { usePackage } from "~/features/onboarding/package/use-package.ts";
import { rootProblem } from "~/features/onboarding/server-form/use-file-checks.ts";
import { installationsQuery } from "~/features/organization/github/github.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, NotLoaded } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { SelectField } from "~/ui/select.tsx";
import { ChangeForm, type ChangeProps, useChangeSource } from "./change-form.tsx";
import { ChangeToGitHub } from "./change-to-github.tsx";
import { FoundSummary } from "./found-source.tsx";
import { repositoriesQuery } from "./source.functions.ts";
import { SourceField } from "./source-field.tsx";
import { useSourceLook } from "./use-source-look.ts";

const labels = {
  gitUrl: "A Git URL",
  repository: "A repository of this instance",
  gitHub: "A repository on GitHub",
  package: "A package",
} as const;
type Kind = keyof typeof labels;

/** The form of `ChangeSource`. */
export function ChangeChoices({ projectKey, source }: ChangeProps) {
  const { orgSlug } = projectKey;
  const stored = useQuery(repositoriesQuery(orgSlug));
  const accounts = useQuery(installationsQuery(orgSlug));
  const [kind, setKind] = useState<Kind>("gitUrl");
  const [pasted, setPasted] = useState({ name: "", version: "" });
  if (stored.isPending || accounts.isPending) return <Skeleton className="h-16 w-full" />;
  const installations = accounts.data ?? [];
  const current = source.kind === "repository" ? source.name : null;
  const names = (stored.data ?? []).flatMap(({ name, continued }) =>
    name === current || continued !== null ? [] : [name],
  );
  const kinds = [
    "gitUrl" as const,
    ...(names.length > 0 ? (["repository"] as const) : []),
    ...(installations.length > 0 ? (["gitHub"] as const) : []),
    "package" as const,
  ];
  const failed = [stored, accounts].find(({ error }) => error !== null);
  const props = { projectKey, source };
  return (
    <>
      {failed ? (
        <NotLoaded
          what={failed === stored ? "this instance's repositories" : "the GitHub accounts"}
          error={failed.error}
          retry={failed.refetch}
        />
      ) : null}
      <SelectField
        label="New place of the code"
        className="sm:max-w-80"
        value={kind}
        onChange={setKind}
        options={kinds.map((value) => ({ value, label: labels[value] }))}
      />
      {kind === "gitUrl" ? (
        <ChangeToGitUrl
          {...props}
          onPackage={(named) => {
            setPasted(named);
            setKind("package");
          }}
        />
      ) : null}
      {kind === "repository" ? <ChangeToRepository {...props} names={names} /> : null}
      {kind === "gitHub" ? <ChangeToGitHub {...props} installations={installations} /> : null}
      {kind === "package" ? <ChangeToPackage {...props} initial={pasted} /> : null}
    </>
  );
}

/** To a package of the index, once the index has it. */
function ChangeToPackage({
  projectKey,
  source,
  initial,
}: ChangeProps & { readonly initial: { readonly name: string; readonly version: string } }) {
  const chosen = usePackage(projectKey.orgSlug, initial);
  const [follows, setFollows] = useState(source.kind === "package" && source.follows);
  const form = useChangeSource(projectKey);
  const isFound = chosen.newest !== null && Object.values(chosen.problems).every((problem) => problem === null);
  const change = isFound ? { package: { name: chosen.name, version: chosen.version.trim() || null, follows } } : null;
  return (
    <ChangeForm source={source} change={change} form={form}>
      <PackageFields chosen={chosen} refused={{}} disabled={form.busy} />
      <Checkbox checked={follows} onChange={setFollows} disabled={form.busy}>
        <span className="font-medium">Deploy new versions</span>
        <span className="block text-xs text-muted">
          Towpath looks every hour. A version that doesn't start never replaces the one that's live.
        </span>
      </Checkbox>
    </ChangeForm>
  );
}

/** Changes to a repository of this instance. `names`: the choices. */
function ChangeToRepository({ projectKey, source, names }: ChangeProps & { readonly names: readonly string[] }) {
  const [repository, setRepository] = useState<string | null>(null);
  const [previews, setPreviews] = useState(true);
  const form = useChangeSource(projectKey);
  return (
    <ChangeForm source={source} change={repository === null ? null : { repository, previews }} form={form}>
      <SelectField
        label="Repository"
        className="sm:max-w-80"
        placeholder="Choose a repository"
        value={repository}
        onChange={setRepository}
        options={names.map((name) => ({ value: name, label: name }))}
      />
      {repository === null ? null : (
        <Checkbox checked={previews} onChange={setPreviews} disabled={form.busy}>
          Previews of other branches
        </Checkbox>
      )}
    </ChangeForm>
  );
}

/** Changes to a Git URL, after looking into it. `onPackage`: the text names a package. */
function ChangeToGitUrl({
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
        gitUrl: found.url,
        previews,
        credential: look.sentCredential,
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
