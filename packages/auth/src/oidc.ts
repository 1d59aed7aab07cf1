import { sha256 } from "@towpath/crypto";
import { genericOAuth } from "better-auth/plugins";

/** An OpenID Connect issuer that signs people in instead of the embedded provider (AUTH-2). */
export type OidcSettings = {
  /** Issuer identifier, as in the discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
};

/**
 * Name under which accounts of an issuer are stored. It is derived from the issuer, so that the same subject at
 * another issuer is another identity even when an operator swaps the settings (AUTH-11).
 */
export function oidcProviderId(issuer: string): string {
  return `oidc-${sha256(issuer.replace(/\/+$/, ""), "hex").slice(0, 16)}`;
}

/** Where the issuer sends people back to. Constant, so that an operator can register it before the first start. */
export const oidcCallbackPath = "/api/auth/callback/oidc";

/** PKCE, state, nonce and a verified ID token; identity is the `sub` claim of this issuer. */
export function oidcPlugin(settings: OidcSettings, baseUrl: string) {
  return genericOAuth({
    config: [
      {
        providerId: oidcProviderId(settings.issuer),
        discoveryUrl: `${settings.issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`,
        requireIdTokenVerification: true,
        clientId: settings.clientId,
        clientSecret: settings.clientSecret,
        scopes: ["openid", "profile", "email"],
        redirectURI: `${baseUrl}${oidcCallbackPath}`,
        pkce: true,
        accountSubject: ({ profile }) => (typeof profile.sub === "string" ? profile.sub : ""),
        mapProfileToUser: (profile) => nameFrom(profile),
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
