import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Dices, FolderGit2, Plus } from "lucide-react";
import { useState } from "react";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { RepositoryList } from "~/features/onboarding/server-form/repository-list.tsx";
import { SuspendedAccount } from "~/features/onboarding/server-form/suspended-account.tsx";
import { AccountSelect } from "~/features/organization/github/account-select.tsx";
import { installationsQuery } from "~/features/organization/github/github.functions.ts";
import { GitHubLink } from "~/features/organization/github/github-link.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { failureText, toast } from "~/ui/toast.ts";

type ChooseRepoPageProps = {
  readonly orgSlug: string;
  readonly installationId: number | undefined;
  readonly proposedName: string;
  readonly onInstallation: (installationId: number) => void;
};

/** ONB-6: accounts that are connected, and their repositories. */
export function ChooseRepoPage({ orgSlug, installationId, proposedName, onInstallation }: ChooseRepoPageProps) {
  const { data: installations } = useSuspenseQuery(installationsQuery(orgSlug));
  const [serverName, setServerName] = useState(proposedName);
  const chosen = installations.find((known) => known.installationId === installationId) ?? installations[0];
  return (
    <OnboardingFrame
      step="Server"
      wide
      title="Choose a repository"
      description="Pushes to the default branch go live. Other branches get previews."
    >
      {chosen ? (
        <>
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <AccountSelect
              aria-label="GitHub account"
              className="w-56"
              installations={installations}
              value={chosen.installationId}
              onChange={onInstallation}
            />
            <GitHubLink
              orgSlug={orgSlug}
              state={{ purpose: "install", from: "welcome" }}
              variant="ghost"
              icon={<Plus />}
            >
              Another account, or more repositories
            </GitHubLink>
          </div>
          {chosen.isSuspended ? (
            <SuspendedAccount orgSlug={orgSlug} accountLogin={chosen.accountLogin} />
          ) : (
            <>
              <ProposedName orgSlug={orgSlug} name={serverName} onName={setServerName} />
              <RepositoryList
                key={chosen.installationId}
                orgSlug={orgSlug}
                installationId={chosen.installationId}
                choice={(repository) => (
                  <Link
                    to="/$orgSlug/welcome/server-deploy"
                    params={{ orgSlug }}
                    search={{
                      serverName,
                      installationId: chosen.installationId,
                      owner: repository.owner.login,
                      repo: repository.name,
                      repoName: repository.full_name,
                      isPrivate: repository.private,
                      defaultBranch: repository.default_branch,
                    }}
                    className={buttonLook({ size: "sm" })}
                    aria-label={`Choose ${repository.name}`}
                  >
                    Choose
                  </Link>
                )}
              />
            </>
          )}
        </>
      ) : (
        <NotConnected orgSlug={orgSlug} />
      )}
    </OnboardingFrame>
  );
}

type ProposedNameProps = {
  readonly orgSlug: string;
  readonly name: string;
  readonly onName: (name: string) => void;
};

/** The name that the server gets unless the user changes it on the next page. */
function ProposedName({ orgSlug, name, onName }: ProposedNameProps) {
  const [rolling, setRolling] = useState(false);
  const another = async () => {
    setRolling(true);
    try {
      onName((await proposeServerName({ data: { orgSlug } })).name);
    } catch (error) {
      toast.error(failureText(error));
    }
    setRolling(false);
  };
  return (
    <p className="mb-3 flex flex-wrap items-center gap-x-1.5 text-sm text-muted">
      Your server will be called{" "}
      <code data-testid="proposed-name" className="font-medium text-ink">
        {name}
      </code>
      <IconButton label="Suggest another name" size="sm" busy={rolling} onClick={() => void another()}>
        {rolling ? null : <Dices />}
      </IconButton>
      You can change it on the next page.
    </p>
  );
}

function NotConnected({ orgSlug }: { readonly orgSlug: string }) {
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState
        icon={<FolderGit2 />}
        title="GitHub is not connected"
        actions={
          <>
            <Link
              to="/$orgSlug/welcome/connect-github"
              params={{ orgSlug }}
              search={{ success: false }}
              className={buttonLook({ variant: "primary" })}
            >
              Connect GitHub
            </Link>
            <Link to="/$orgSlug/servers/new" params={{ orgSlug }} className={buttonLook()}>
              Paste a URL
            </Link>
          </>
        }
      >
        Connect an account to see its repositories here. A public repository can be deployed by its URL instead.
      </EmptyState>
    </div>
  );
}
