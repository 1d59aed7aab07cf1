/** Headers of every answer. */
export function securityHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    ...(baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

/**
 * Scripts run by nonce or from this origin only. Styles are looser: the toasts and charts set them from script, and a
 * style alone runs nothing. `avatarOrigin` is GitHub's or the forge's, whose account pictures are shown.
 */
export function contentSecurityPolicy(nonce: string, avatarOrigin: string | null): string {
  const images = ["'self'", "data:", "https:", ...(avatarOrigin ? [new URL(avatarOrigin).origin] : [])];
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    `img-src ${[...new Set(images)].join(" ")}`,
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
