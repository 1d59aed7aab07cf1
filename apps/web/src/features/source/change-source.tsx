import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Field } from "~/ui/field.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText } from "~/ui/toast.ts";
import { installationsQuery } from "../github/github.functions.ts";
import type { ChangeProps } from "./change-form.tsx";
import { ChangeToGitUrl } from "./change-to-git-url.tsx";
import { ChangeToGitHub } from "./change-to-github.tsx";
import { ChangeToPackage } from "./change-to-package.tsx";
import { ChangeToRepository } from "./change-to-repository.tsx";
import { repositoriesQuery } from "./source.functions.ts";

/** Another place for the server's code, of any kind that the instance has; everything else of it stays (SRC-1). */
export function ChangeSource({ projectKey, source }: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="Change source" className="flex flex-col gap-4 border-t pt-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56 text-sm">
          <h3 className="font-medium">Change source</h3>
          <p className="text-muted">Build this server from another repository, or from a package.</p>
        </div>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Cancel" : "Change source"}
        </Button>
      </div>
      {isOpen ? <Change projectKey={projectKey} source={source} /> : null}
    </section>
  );
}

const labels = {
  gitUrl: "A Git URL",
  repository: "A repository of this instance",
  gitHub: "A repository on GitHub",
  package: "A package",
} as const;
type Kind = keyof typeof labels;

function Change({ projectKey, source }: ChangeProps) {
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
        <Callout
          tone="bad"
          title={failed === stored ? "Couldn't load this instance's repositories" : "Couldn't load the GitHub accounts"}
          actions={<Button onClick={() => void failed.refetch()}>Try again</Button>}
        >
          {failureText(failed.error)}
        </Callout>
      ) : null}
      <Field label="New place of the code">
        {(control) => (
          <Select
            {...control}
            className="sm:max-w-80"
            value={kind}
            onChange={setKind}
            options={kinds.map((value) => ({ value, label: labels[value] }))}
          />
        )}
      </Field>
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
