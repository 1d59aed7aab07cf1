import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { ConnectedApps } from "~/features/oauth/connected-apps.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { signInMethodsQuery } from "./account.functions.ts";
import { AccountFrame } from "./account-frame.tsx";
import { ActivityCard } from "./activity-card.tsx";
import { PasswordCard } from "./password-card.tsx";
import { TwoFactorCard } from "./two-factor-card.tsx";

/** How the user signs in, and who may act for them (ORG-7). */
export function SecurityPage({ orgSlug, email }: { readonly orgSlug: string; readonly email: string }) {
  const { data: methods } = useSuspenseQuery(signInMethodsQuery);
  return (
    <AccountFrame
      title="Security"
      description="How you sign in, and which apps may act for you."
      actions={
        <Link to="/$orgSlug/settings/sessions" params={{ orgSlug }} className={buttonLook()}>
          Review sessions
        </Link>
      }
    >
      {methods.issuer === null ? null : <IssuerCard issuer={methods.issuer} />}
      {methods.hasPassword ? (
        <>
          <PasswordCard email={email} />
          <TwoFactorCard state={methods.twoFactor} />
        </>
      ) : null}
      <ConnectedApps />
      <ActivityCard />
    </AccountFrame>
  );
}

/** What belongs to an OpenID Connect provider is changed there. */
function IssuerCard({ issuer }: { readonly issuer: string }) {
  return (
    <Card>
      <CardHeader
        title="Sign-in"
        description={`You sign in with ${new URL(issuer).host}. Change your password and second factor there.`}
      />
      <CardBody>
        <a href={issuer} target="_blank" rel="noreferrer" className={buttonLook()}>
          Open {new URL(issuer).host}
          <ExternalLink aria-hidden />
        </a>
      </CardBody>
    </Card>
  );
}
