import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { InstallationView } from "@towpath/core/sources/installation";
import type { RepositorySourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import { SuspendedAccount } from "~/features/onboarding/server-form/suspended-account.tsx";
import { AccountSelect } from "~/features/organization/github/account-select.tsx";
import { installationsQuery } from "~/features/organization/github/github.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout, Failure, NotLoaded } from "~/ui/callout.tsx";
import { Field, TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { SelectField } from "~/ui/select.tsx";
import type { ContinueProps, MovedToGitHub, Visibility } from "./continue-on-github.types.ts";
import { continueOnGitHub, repositoriesQuery } from "./source.functions.ts";

/** The form of `ContinueOnGitHub`. */
export function ContinueChoices(props: ContinueProps) {
  const { orgSlug } = props.projectKey;
  const { data, error, refetch } = useQuery(installationsQuery(orgSlug));
  if (error && !data) return <NotLoaded what="the GitHub accounts" error={error} retry={refetch} />;
  if (!data) return <Skeleton className="h-16 w-full" />;
  if (data.length > 0) return <MoveForm {...props} installations={data} />;
  return (
    <Callout
      title="No GitHub account is connected"
      actions={
        <Link to="/$orgSlug/settings/github" params={{ orgSlug }} className={buttonLook({ size: "sm" })}>
          Connect GitHub
        </Link>
      }
    >
      Connect the account that the repository is to move to, then come back.
    </Callout>
  );
}

function MoveForm({
  projectKey,
  source,
  back,
  onMoved,
  installations,
}: ContinueProps & { readonly installations: readonly InstallationView[] }) {
  const { orgSlug } = projectKey;
  const known = installations.find(({ installationId }) => installationId === back?.account) ?? installations[0];
  const [account, setAccount] = useState(known?.installationId ?? 0);
  const [name, setName] = useState(back?.gitHubName ?? source.name);
  const [visibility, setVisibility] = useState<Visibility>(back?.visibility ?? "private");
  const { problems, busy, submit } = useMove(projectKey, source.name, onMoved);
  const chosen = installations.find(({ installationId }) => installationId === account);
  const fullName = `${chosen?.accountLogin}/${name.trim() || source.name}`;
  const failure = Object.entries(problems).find(([field]) => field !== "gitHubName" && field !== "private")?.[1];
  const form = { installationId: account, gitHubName: name.trim(), private: visibility === "private" };
  return (
    <Form aria-label="Continue on GitHub" className="flex flex-col gap-4" onSubmit={() => void submit(form)}>
      {back && Object.keys(problems).length === 0 ? (
        <Callout tone="ok">
          You signed in to GitHub as {back.signedInAs}. Towpath may now make the repository: continue below.
        </Callout>
      ) : null}
      <Field label="GitHub account">
        {(control) => (
          <AccountSelect
            {...control}
            className="sm:max-w-80"
            disabled={busy}
            installations={installations}
            value={account}
            onChange={setAccount}
          />
        )}
      </Field>
      {chosen?.isSuspended ? (
        <SuspendedAccount orgSlug={orgSlug} accountLogin={chosen.accountLogin} />
      ) : (
        <>
          <TextField
            label="Name on GitHub"
            error={problems.gitHubName}
            hint="A new repository, or an empty one of this account."
            mono
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            className="sm:max-w-80"
            value={name}
            disabled={busy}
            onChange={setName}
          />
          <SelectField
            label="Who can see it"
            error={problems.private}
            hint={
              visibility === "public" ? "Everyone, with all of its history." : "People who have access to it on GitHub."
            }
            className="sm:max-w-80"
            disabled={busy}
            value={visibility}
            onChange={setVisibility}
            options={[
              { value: "private", label: "Private" },
              { value: "public", label: "Public" },
            ]}
          />
          <MoveEffects orgSlug={orgSlug} source={source} fullName={fullName} />
          <Failure title="The repository was not moved">{failure}</Failure>
          <div className="flex flex-wrap items-center gap-3">
            <Button type="submit" variant="primary" busy={busy}>
              Move to GitHub
            </Button>
            <p role="status" className="text-sm text-muted">
              {busy ? "A large repository takes minutes. You can leave this page." : ""}
            </p>
          </div>
        </>
      )}
    </Form>
  );
}

/** Moves the repository, or sends the person to GitHub first. */
function useMove(projectKey: ProjectKey, repository: string, onMoved: (moved: MovedToGitHub) => void) {
  const queryClient = useQueryClient();
  const { problems, busy, run } = useSubmit();
  type Form = { readonly installationId: number; readonly gitHubName: string; readonly private: boolean };
  const submit = (form: Form) =>
    run(async () => {
      const answer = await continueOnGitHub({ data: { ...projectKey, repository, ...form } });
      if (answer.kind === "authorize") {
        window.location.assign(answer.url);
        return;
      }
      onMoved(answer);
      await queryClient.invalidateQueries();
    });
  return { problems, busy, submit };
}

type MoveEffectsProps = {
  readonly orgSlug: string;
  readonly source: RepositorySourceView;
  readonly fullName: string;
};

function MoveEffects({ orgSlug, source, fullName }: MoveEffectsProps) {
  const { data = [] } = useQuery(repositoriesQuery(orgSlug));
  const servers = data.find(({ name }) => name === source.name)?.servers ?? [];
  return (
    <Callout title="What happens">
      All branches and tags go to {fullName}.{" "}
      {servers.length > 1 ? `The servers ${servers.map(({ name }) => name).join(", ")} are` : "This server is"} built
      from there. Names, addresses, variables, logs, previews and deployments stay, and nothing is built again. The
      repository here becomes read-only: git says where to push instead, and after 30 days it is deleted.
      {source.previews ? "" : " Branches that are pushed there get previews, as always on GitHub."}
    </Callout>
  );
}
