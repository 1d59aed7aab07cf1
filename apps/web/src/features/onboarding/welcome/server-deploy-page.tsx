import { Link } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import { defaultAuthMode } from "@towpath/core/projects/project/schema";
import { GitBranch, Lock } from "lucide-react";
import { AuthModeChoice, BuildFields } from "~/features/onboarding/server-form/build-fields.tsx";
import type { DeployAddress, DeploySearch } from "~/features/onboarding/server-form/deploy-search.ts";
import { deployRepository } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { ServerNameField } from "~/features/onboarding/server-form/server-name-field.tsx";
import type { useDeployForm } from "~/features/onboarding/server-form/use-deploy-form.ts";
import { offersWithin, rootProblem, useFileChecks } from "~/features/onboarding/server-form/use-file-checks.ts";
import { useServerForm } from "~/features/onboarding/server-form/use-server-form.ts";
import { EnvironmentVariables } from "~/features/onboarding/server-form/variable-fields.tsx";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { focusFirstProblem } from "~/ui/focus-first-problem.ts";
import { Form } from "~/ui/form.tsx";
import { OtherOrganization } from "./other-organization.tsx";

type Props = {
  readonly orgSlug: string;
  readonly search: DeploySearch;
  /** Writes fields into the URL. */
  readonly onKeep: (fields: DeploySearch) => void;
  readonly repository: { readonly full_name: string; readonly private: boolean; readonly default_branch: string };
  /** Null when nothing has been pushed yet. */
  readonly branch: { readonly commit: { readonly sha: string; readonly message: string } } | null;
  readonly entrypoints: readonly string[];
  readonly projects: readonly { readonly directory: string; readonly entrypoints: readonly string[] }[];
  readonly requirementFiles: readonly string[];
  /** That the repository's files name. */
  readonly variables: readonly { readonly name: string; readonly file: string }[];
  /** `like`: the repository's own name as a server name, where that is available. */
  readonly proposal: { readonly name: string; readonly like: string | null; readonly urlTemplate: string };
  readonly address: DeployAddress;
};

/** ONB-5: what to build, and who can call it. */
export function ServerDeployPage({ orgSlug, search, onKeep, proposal, address, ...props }: Props) {
  const { repository, branch, variables: offered } = props;
  const { choice, variables, form } = useServerForm({
    orgSlug,
    initial: {
      ...search,
      serverName: search.serverName ?? proposal.like ?? proposal.name,
      authMode: search.shouldUseAuth === false ? "towpath-public" : defaultAuthMode,
    },
    deploy: deployTo(address),
    more: (authMode) => ({ shouldUseAuth: authMode !== "towpath-public" }),
    onKeep,
  });
  const { values } = form.fields;
  const source = { orgSlug, address, branchName: repository.default_branch, commitSha: branch?.commit.sha ?? null };
  const missing = useFileChecks(source, values);
  return (
    <OnboardingFrame step="Server" title="Deploy a server" wide>
      <OtherOrganization teamId={search.teamId} />
      <RepositorySummary
        orgSlug={orgSlug}
        repository={repository}
        branch={branch}
        linkedBranch={search.defaultBranch}
      />
      <Failure title="The server was not created" className="mb-5">
        {form.failure}
      </Failure>
      <Form
        className="flex flex-col gap-6"
        onSubmit={(element) => {
          const problem = rootProblem(props, values);
          if (problem !== null) form.fields.setRefused({ rootDirectory: problem });
          else if (choice.problem === null) void form.submit(choice.name);
          focusFirstProblem(element);
        }}
      >
        <ServerNameField
          choice={choice}
          urlTemplate={proposal.urlTemplate}
          like={proposal.like}
          error={form.fields.refused.name ?? null}
        />
        <BuildFields fields={form.fields} {...offersWithin(values.rootDirectory, props)} missing={missing} />
        <EnvironmentVariables variables={variables} offered={offered} />
        <AuthModeChoice value={values.authMode} onChange={(authMode) => form.fields.change({ authMode })} />
        <Button type="submit" variant="primary" size="lg" busy={form.busy} className="self-start">
          {form.busy ? "Creating the server" : "Deploy"}
        </Button>
      </Form>
    </OnboardingFrame>
  );
}

const deployTo =
  ({ installationId, owner, repo }: DeployAddress): Parameters<typeof useDeployForm>[1] =>
  (server) =>
    deployRepository({ data: { ...server, installationId, repositoryFullName: `${owner}/${repo}` } });

/** The spaces between its parts are for screen readers and copied text. */
export function NewestCommit({ repository, branch }: Pick<Props, "repository" | "branch">) {
  return (
    <p className="mt-0.5 flex min-w-0 items-center gap-1.5 text-xs text-muted">
      <GitBranch className="size-3.5 shrink-0" />
      <span className="shrink-0">{repository.default_branch}</span>{" "}
      {branch ? (
        <>
          <code>{shortCommit(branch.commit.sha)}</code>{" "}
          <span className="truncate">{branch.commit.message.split("\n", 1)[0]}</span>
        </>
      ) : (
        <span>Nothing has been pushed yet. The first push starts a build.</span>
      )}
    </p>
  );
}

type RepositorySummaryProps = Pick<Props, "orgSlug" | "repository" | "branch"> & {
  /** The default branch that the link names; it may have changed since. */
  readonly linkedBranch: string | undefined;
};

function RepositorySummary({ orgSlug, repository, branch, linkedBranch }: RepositorySummaryProps) {
  return (
    <div className="mb-6 rounded-lg border bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="flex min-w-0 flex-1 items-center gap-1.5 text-sm font-medium">
          <span className="truncate">{repository.full_name}</span>
          {repository.private ? <Lock className="size-3.5 text-faint" role="img" aria-label="Private" /> : null}
        </p>
        <Link
          to="/$orgSlug/welcome/choose-repo"
          params={{ orgSlug }}
          className="text-sm text-accent-text underline-offset-3 hover:underline"
        >
          Choose another
        </Link>
      </div>
      <NewestCommit repository={repository} branch={branch} />
      {linkedBranch && linkedBranch !== repository.default_branch ? (
        <p className="mt-1.5 text-xs text-warn">
          This link names <code>{linkedBranch}</code>, but the default branch is{" "}
          <code>{repository.default_branch}</code>: that one goes live, others get previews.
        </p>
      ) : null}
    </div>
  );
}
