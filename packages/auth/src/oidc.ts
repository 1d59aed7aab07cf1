import { sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { genericOAuth } from "better-auth/plugins";
import { followIssuerEmail, type IssuerEmailChange } from "./issuer-email.ts";
import { discoveryUrlOf } from "./oidc.config.ts";

/** An OpenID Connect issuer that replaces the embedded provider (AUTH-2). */
export type OidcSettings = {
  /** Issuer identifier, as in the discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
};

/**
 * Provider id under which an issuer's accounts are stored. It is derived from the issuer, so that the same subject at
 * another issuer stays another identity when an operator changes the settings (AUTH-11).
 */
export function oidcProviderId(issuer: string): string {
  return `oidc-${sha256(issuer.replace(/\/+$/, ""), "hex").slice(0, 16)}`;
}

/** Callback path. Constant, so that an operator can register it with the issuer before the first start. */
export const oidcCallbackPath = "/api/auth/callback/oidc";

/**
 * Uses PKCE, state, nonce and a verified ID token. The `sub` claim of this issuer is the identity; each sign-in takes
 * over the issuer's current email address.
 */
export function oidcPlugin(
  settings: OidcSettings,
  baseUrl: string,
  people: { readonly db: Database; readonly onEmailChanged: (change: IssuerEmailChange) => Promise<void> },
) {
  const providerId = oidcProviderId(settings.issuer);
  return genericOAuth({
    config: [
      {
        providerId,
        discoveryUrl: discoveryUrlOf(settings.issuer),
        requireIdTokenVerification: true,
        clientId: settings.clientId,
        clientSecret: settings.clientSecret,
        scopes: ["openid", "profile", "email"],
        redirectURI: `${baseUrl}${oidcCallbackPath}`,
        pkce: true,
        accountSubject: ({ profile }) => (typeof profile.sub === "string" ? profile.sub : ""),
        // Called once the ID token was verified.
        mapProfileToUser: async (profile) => {
          const changed = await followIssuerEmail(people.db, providerId, profile);
          if (changed) await people.onEmailChanged(changed);
          return nameFrom(profile);
        },
      },
    ],
  });
}

function nameFrom(profile: Record<string, unknown>) {
  const text = (key: string) => (typeof profile[key] === "string" ? profile[key].trim().slice(0, 200) : "");
  const email = text("email");
  const name = text("name") || [text("given_name"), text("family_name")].filter(Boolean).join(" ");
  return {
    name: name || (email.split("@")[0] ?? ""),
    firstName: text("given_name") || null,
    lastName: text("family_name") || null,
  };
}
