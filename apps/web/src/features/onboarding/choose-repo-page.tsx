import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FolderGit2, Plus } from "lucide-react";
import { useState } from "react";
import { beginConnection, installationsQuery } from "~/features/github/github.functions.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";
import { RepositoryList } from "./repository-list.tsx";

/** ONB-6: accounts that are connected, and their repositories. */
export function ChooseRepoPage({
  orgSlug,
  installationId,
  onInstallation,
}: {
  readonly orgSlug: string;
  readonly installationId: number | undefined;
  readonly onInstallation: (installationId: number) => void;
}) {
  const { data: installations } = useSuspenseQuery(installationsQuery(orgSlug));
  const chosen = installations.find((known) => known.installationId === installationId) ?? installations[0];
  return (
    <OnboardingFrame
      step="Server"
      wide
      title="Choose a repository"
      description="Every push to its default branch goes live, every other branch gets a preview."
    >
      {chosen ? (
        <>
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <Select
              aria-label="GitHub account"
              className="w-56"
              value={String(chosen.installationId)}
              onChange={(value) => onInstallation(Number(value))}
              options={installations.map(({ installationId: id, accountLogin }) => ({
                value: String(id),
                label: accountLogin,
              }))}
            />
            <OtherAccountButton orgSlug={orgSlug} />
          </div>
          <RepositoryList key={chosen.installationId} orgSlug={orgSlug} installationId={chosen.installationId} />
        </>
      ) : (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            icon={<FolderGit2 aria-hidden />}
            title="GitHub is not connected"
            actions={
              <Link
                to="/$orgSlug/welcome/connect-github"
                params={{ orgSlug }}
                search={{ success: false }}
                className={buttonLook({ variant: "primary" })}
              >
                Connect GitHub
              </Link>
            }
          >
            Connect an account to see its repositories here.
          </EmptyState>
        </div>
      )}
    </OnboardingFrame>
  );
}

function OtherAccountButton({ orgSlug }: { readonly orgSlug: string }) {
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      window.location.assign((await beginConnection({ data: { orgSlug, otherAccount: true } })).url);
    } catch (error) {
      toast.error(failureText(error));
      setBusy(false);
    }
  };
  return (
    <Button variant="ghost" icon={<Plus aria-hidden />} busy={busy} onClick={() => void go()}>
      Another account, or more repositories
    </Button>
  );
}
