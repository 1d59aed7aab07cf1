/**
 * Names that would shadow something of the platform on a single host, or read as if they were it. All lower case;
 * shorter ones than six letters are no project names anyway and matter for previews only.
 */
const reservedNames = new Set(
  (
    "api www app mcp admin root mail docs blog login logout signup account status support assets static public " +
    "healthz readyz livez metrics gateway console dashboard towpath registry internal localhost welcome settings " +
    "oauth2 authorize well-known favicon robots sitemap telemetry webhook webhooks billing pricing"
  ).split(" "),
);

/** Whether a name may not be given out. Labels that begin with `xn--` are internationalized names (RFC 5890). */
export function isReservedName(name: string): boolean {
  const label = name.toLowerCase();
  return reservedNames.has(label) || label.startsWith("-") || label.startsWith("xn--");
}
