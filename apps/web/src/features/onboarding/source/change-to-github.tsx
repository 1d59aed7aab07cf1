import type { InstallationView } from "@towpath/core/sources/installation";
import { useEffect, useRef, useState } from "react";
import { type ListedRepository, RepositoryList } from "~/features/onboarding/server-form/repository-list.tsx";
import { SuspendedAccount } from "~/features/onboarding/server-form/suspended-account.tsx";
import { AccountSelect } from "~/features/organization/github/account-select.tsx";
import { Button } from "~/ui/button.tsx";
import { Field, TextField } from "~/ui/field.tsx";
import { ChangeForm, type ChangeProps, useChangeSource } from "./change-form.tsx";

/** Changes to a repository of a connected GitHub account. `installations`: at least one. */
export function ChangeToGitHub({
  projectKey,
  source,
  installations,
}: ChangeProps & { readonly installations: readonly InstallationView[] }) {
  const { orgSlug } = projectKey;
  const [account, setAccount] = useState(installations[0]?.installationId ?? 0);
  const [repository, setRepository] = useState<ListedRepository | null>(null);
  const [branch, setBranch] = useState("");
  const form = useChangeSource(projectKey);
  const chosen = installations.find(({ installationId }) => installationId === account);
  const change = repository && {
    githubRepository: { installationId: account, fullName: repository.full_name },
    branch: branch.trim() || null,
  };
  const choose = (next: ListedRepository | null) => {
    form.clear();
    setBranch("");
    setRepository(next);
  };
  return (
    <ChangeForm source={source} change={change} form={form} shownFields={["branch"]}>
      <Field label="GitHub account">
        {(control) => (
          <AccountSelect
            {...control}
            className="sm:max-w-80"
            installations={installations}
            value={account}
            onChange={(next) => {
              choose(null);
              setAccount(next);
            }}
          />
        )}
      </Field>
      {chosen?.isSuspended ? (
        <SuspendedAccount orgSlug={orgSlug} accountLogin={chosen.accountLogin} />
      ) : repository === null ? (
        <RepositoryList
          key={account}
          orgSlug={orgSlug}
          installationId={account}
          choice={(each) => (
            <Button size="sm" aria-label={`Choose ${each.name}`} onClick={() => choose(each)}>
              Choose
            </Button>
          )}
        />
      ) : (
        <>
          <Chosen name={repository.full_name} onOther={() => choose(null)} />
          <TextField
            label="Branch"
            optional
            error={form.problems.branch}
            hint={`Pushes to it go live. Empty: the repository's default, which is ${repository.default_branch} now.`}
            mono
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            className="sm:max-w-80"
            placeholder={repository.default_branch}
            value={branch}
            disabled={form.busy}
            onChange={setBranch}
          />
        </>
      )}
    </ChangeForm>
  );
}

/** The chosen repository. Takes the focus, as the button that chose it is gone. */
function Chosen({ name, onOther }: { readonly name: string; readonly onOther: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border bg-surface px-4 py-3">
      <p className="min-w-0 flex-1 basis-40 text-sm font-medium wrap-anywhere">{name}</p>
      <Button ref={button} size="sm" onClick={onOther}>
        Choose another repository
      </Button>
    </div>
  );
}
