import { Link } from "@tanstack/react-router";
import { GitBranch, Rocket, Server as ServerIcon } from "lucide-react";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { PublishedServerLinks, StartLink } from "~/features/onboarding/server-form/start-links.tsx";
import { ConnectionProblem } from "~/features/organization/github/connection-problem.tsx";
import { GitHubLink } from "~/features/organization/github/github-link.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";

/** ONB-2 */
export function ConnectGitHubPage({
  orgSlug,
  app,
  mayConnectApp,
  problem,
  account,
  hasServers,
}: {
  readonly orgSlug: string;
  readonly app: { readonly url: string } | null;
  /** Whether the person may connect this instance, which has no App yet, to GitHub (GH-5). */
  readonly mayConnectApp: boolean;
  readonly problem: string | undefined;
  /** The GitHub account that the problem concerns. */
  readonly account: string | undefined;
  /** Home leads here until GitHub is connected, whoever needs it or not. */
  readonly hasServers: boolean;
}) {
  return (
    <OnboardingFrame
      step="Server"
      title="Connect GitHub"
      description="Optional. Towpath reads the repositories you choose and builds each push. It never changes your code."
    >
      <ConnectionProblem problem={problem} account={account} />
      {app ? (
        <>
          <GitHubLink
            orgSlug={orgSlug}
            state={{ purpose: "connect", from: "welcome" }}
            variant="primary"
            size="lg"
            icon={<GitBranch />}
          >
            Connect GitHub
          </GitHubLink>
          <ul className="mt-6 list-disc space-y-1.5 pl-5 text-sm text-muted marker:text-faint">
            <li>You choose the account and the repositories on the next page.</li>
            <li>You can change or revoke access there at any time.</li>
            <li>Builds report back: a check for each commit, and one comment on each pull request.</li>
          </ul>
        </>
      ) : mayConnectApp ? (
        <>
          <Link
            to="/$orgSlug/settings/github"
            params={{ orgSlug }}
            className={buttonLook({ variant: "primary", size: "lg" })}
          >
            <GitBranch />
            Connect GitHub
          </Link>
          <p className="mt-3 text-sm text-muted">
            This instance is not connected to GitHub yet. GitHub makes an App for it, then you choose the account.
          </p>
        </>
      ) : (
        <Callout tone="warn" title="GitHub is not set up on this instance">
          An owner of this instance's own organization connects it in Settings → GitHub. Everything below works without.
        </Callout>
      )}
      <section aria-labelledby="without-github" className="mt-8">
        <h2 id="without-github" className="text-base font-semibold">
          Or start without GitHub
        </h2>
        {hasServers ? (
          <StartLink link={{ to: "/$orgSlug/servers", params: { orgSlug } }} icon={<ServerIcon />} title="Your servers">
            Go on without connecting it.
          </StartLink>
        ) : null}
        <StartLink link={{ to: "/$orgSlug/servers/new", params: { orgSlug } }} icon={<Rocket />} title="New server">
          Paste a URL, try the sample, or upload a folder.
        </StartLink>
        <PublishedServerLinks orgSlug={orgSlug} />
      </section>
    </OnboardingFrame>
  );
}
