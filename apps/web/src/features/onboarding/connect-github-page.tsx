import { GitBranch } from "lucide-react";
import { ConnectionProblem } from "~/features/github/connection-problem.tsx";
import { GitHubLink } from "~/features/github/github-link.tsx";
import { Callout } from "~/ui/callout.tsx";
import { OnboardingFrame } from "./onboarding-frame.tsx";
import { PublishedServerLinks } from "./start-links.tsx";

/** ONB-2 */
export function ConnectGitHubPage({
  orgSlug,
  app,
  problem,
  account,
}: {
  readonly orgSlug: string;
  readonly app: { readonly url: string } | null;
  readonly problem: string | undefined;
  /** The GitHub account that the problem concerns. */
  readonly account: string | undefined;
}) {
  return (
    <OnboardingFrame
      step="GitHub"
      title="Connect GitHub"
      description="Towpath reads the repositories you choose and builds each push. It never changes your code."
    >
      <ConnectionProblem problem={problem} account={account} />
      {app ? (
        <>
          <GitHubLink
            orgSlug={orgSlug}
            state={{ purpose: "connect", from: "welcome" }}
            variant="primary"
            size="lg"
            icon={<GitBranch aria-hidden />}
          >
            Connect GitHub
          </GitHubLink>
          <ul className="mt-6 list-disc space-y-1.5 pl-5 text-sm text-muted marker:text-faint">
            <li>You choose the account and the repositories on the next page.</li>
            <li>You can change or revoke access there at any time.</li>
            <li>Builds report back: a check for each commit, and one comment on each pull request.</li>
          </ul>
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
        <PublishedServerLinks orgSlug={orgSlug} />
      </section>
    </OnboardingFrame>
  );
}
