import type { SigningKeys } from "./signing-keys.ts";

/** As short as the time in which a removed member's access ends, give or take a minute: widgets ask for another one. */
const ttlSeconds = 60;

/** `aud` of the widget tokens of an organization. */
const widgetAudience = (organizationId: string): string => `towpath:organization:${organizationId}`;

/**
 * Signs a token with which a widget of an organization's settings can show who uses it, valid for a minute (ORG-5). It
 * opens nothing at Towpath. Widgets verify it by the published keys.
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
