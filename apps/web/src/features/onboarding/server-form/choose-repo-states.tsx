import type { ErrorComponentProps } from "@tanstack/react-router";
import { useParams } from "@tanstack/react-router";
import { Button, buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { failureText } from "~/ui/toast.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";

// Pending, error and not-found views are in the first load, so they have no icons. Links are plain: see `ErrorScreen`.

/** ONB-6: shown while the repositories load. */
export function LoadingRepositories() {
  return (
    <p role="status" className="flex items-center justify-center gap-2 px-4 py-12 text-sm text-muted">
      <Spinner /> Loading repositories...
    </p>
  );
}

export function ChooseRepoPending() {
  return (
    <OnboardingFrame step="Server" wide title="Choose a repository">
      <LoadingRepositories />
    </OnboardingFrame>
  );
}

/** Placeholder of the form while its repository loads, with the name and privacy from the address. */
export function DeployPending({ repository, isPrivate }: { readonly repository: string; readonly isPrivate: boolean }) {
  return (
    <OnboardingFrame step="Server" wide title="Deploy a server">
      <p role="status" className="flex items-center gap-2 rounded-lg border bg-surface px-4 py-3 text-sm text-muted">
        <Spinner /> Loading {isPrivate ? "the private repository" : "the repository"} {repository}…
      </p>
    </OnboardingFrame>
  );
}

/** ONB-10: the failure is most often GitHub's and temporary, so it offers to try again. */
export function ChooseRepoError({ error, reset }: ErrorComponentProps) {
  return (
    <OnboardingFrame step="Server" wide title="Choose a repository">
      <div role="alert" className="rounded-lg border bg-surface">
        <EmptyState
          title="Couldn't load the repositories"
          actions={
            <>
              <Button variant="primary" onClick={reset}>
                Try again
              </Button>
              <ConnectionsLink />
            </>
          }
        >
          {failureText(error)}
        </EmptyState>
      </div>
    </OnboardingFrame>
  );
}

/** ONB-10: no such account is connected, or it has no such repository. */
export function ChooseRepoNotFound({ what }: { readonly what: "account" | "repository" }) {
  const { orgSlug } = useParams({ strict: false });
  const isAccount = what === "account";
  return (
    <OnboardingFrame step="Server" wide title={isAccount ? "Account not connected" : "Repository not found"}>
      <div className="rounded-lg border bg-surface">
        <EmptyState
          title={isAccount ? "This GitHub account isn't connected" : "Towpath can't see this repository"}
          actions={
            <>
              <a href={`/${orgSlug}/welcome/choose-repo`} className={buttonLook({ variant: "primary" })}>
                {isAccount ? "Choose another account" : "Choose another repository"}
              </a>
              <ConnectionsLink />
            </>
          }
        >
          {isAccount
            ? "It was disconnected from this organization, or never connected. Connect it, or choose another."
            : "It was renamed or deleted, or the GitHub App has no access to it. Give access on GitHub, or choose another."}
        </EmptyState>
      </div>
    </OnboardingFrame>
  );
}

function ConnectionsLink() {
  const { orgSlug } = useParams({ strict: false });
  return (
    <a href={`/${orgSlug}/settings/github`} className={buttonLook()}>
      GitHub connections
    </a>
  );
}
