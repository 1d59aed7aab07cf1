/** A response that other sites may embed, such as an image for link previews, sets it itself. */
export const sharingHeader = "cross-origin-resource-policy";

/** Headers of every response. */
export function securityHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    [sharingHeader]: "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    ...(baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
