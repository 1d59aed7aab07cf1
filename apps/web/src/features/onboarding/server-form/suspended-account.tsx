import { Link } from "@tanstack/react-router";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";

type SuspendedAccountProps = {
  readonly orgSlug: string;
  readonly accountLogin: string;
};

/** Replaces the repositories of an account whose owner has suspended the App. */
export function SuspendedAccount({ orgSlug, accountLogin }: SuspendedAccountProps) {
  return (
    <Callout
      tone="warn"
      title={`${accountLogin} has suspended Towpath`}
      actions={
        <Link to="/$orgSlug/settings/github" params={{ orgSlug }} className={buttonLook({ size: "sm" })}>
          GitHub connections
        </Link>
      }
    >
      The account's owner can resume it in the App's settings on GitHub.
    </Callout>
  );
}
