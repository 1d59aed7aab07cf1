import type { ErrorComponentProps } from "@tanstack/react-router";
import { OAuthProblem } from "~/features/account/oauth/consent-states.tsx";
import { PageError } from "~/features/shared/error-screens/page-error.tsx";
import { classifyError } from "~/ui/classify-error.ts";

const problems = {
  expired: {
    title: "This invitation has expired",
    text: (name: string) => `Invitations work for seven days. Ask someone at ${name} to send it again.`,
  },
  revoked: {
    title: "This invitation was revoked",
    text: (name: string) => `Ask someone at ${name} to invite you again.`,
  },
  used: {
    title: "This invitation was already used",
    text: (name: string) =>
      `Each link works once. If you used it, sign in to open ${name}. If not, tell someone in that organization.`,
  },
} as const;

/** Why an invitation can't be accepted. */
export function InvitationProblem(props: { readonly state: keyof typeof problems; readonly organizationName: string }) {
  const { title, text } = problems[props.state];
  return <OAuthProblem title={title} text={text(props.organizationName)} />;
}

/** For an invalid link, or another failure. */
export function InvitationError(props: ErrorComponentProps) {
  const { kind } = classifyError(props.error);
  if (kind === "forbidden") return <PageError {...props} />;
  if (kind === "not-found") {
    return (
      <OAuthProblem
        title="This invitation link doesn't work"
        text="It may be incomplete, or a newer one was sent. Use the link in the latest message, or ask for a new one."
      />
    );
  }
  return <OAuthProblem title="Something went wrong" text="Try again in a moment. If it persists, ask the operator." />;
}
