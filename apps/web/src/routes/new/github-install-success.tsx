import { createFileRoute } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { buttonLook } from "~/ui/button.tsx";

/** PUB-13 */
export const Route = createFileRoute("/new/github-install-success")({
  head: () => ({ meta: [{ title: "GitHub connected · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: GitHubInstallSuccess,
});

function GitHubInstallSuccess() {
  return (
    <OnboardingFrame
      title={
        <span className="flex items-center gap-2.5">
          <CircleCheck className="size-6 text-ok" />
          GitHub is connected
        </span>
      }
      description="Towpath can read the repositories you chose, and sees every push to them."
    >
      <a href="/" className={buttonLook({ variant: "primary", size: "lg" })}>
        Continue
      </a>
      <p className="mt-5 text-sm text-pretty text-muted">
        You can change or remove this access in GitHub's settings at any time. Installed it for someone else? You can
        close this page.
      </p>
    </OnboardingFrame>
  );
}
