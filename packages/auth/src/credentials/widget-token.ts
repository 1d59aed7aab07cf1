import type { SigningKeys } from "./signing-keys.ts";

/** As short as the time until a removed member's access ends, give or take a minute: widgets request new ones. */
const ttlSeconds = 60;

/** `aud` of the widget tokens of an organization. */
const widgetAudience = (organizationId: string): string => `towpath:organization:${organizationId}`;

/**
 * Signs a token by which a widget in an organization's settings can identify its user, valid for a minute (ORG-5). It
 * grants no access to Towpath. Widgets verify it by the published keys.
 */
export function signWidgetToken(
  keys: SigningKeys,
  of: {
    readonly userId: string;
    readonly organizationId: string;
    readonly role: string;
    readonly permissions: readonly string[];
  },
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const { userId, organizationId, role, permissions } = of;
  const claims = { aud: widgetAudience(organizationId), sub: userId, organization: organizationId, role, permissions };
  return keys.sign({ typ: "towpath-widget+jwt", claims, ttlSeconds });
}
