const words = (text: string) => text.trim().split(/\s+/);

/** First path segments of the dashboard and the site, existing and likely to come. */
const sitePages = words(`
  about account accounts admin api app apps assets auth authorize billing blog callback changelog checkout community
  console contact dashboard docs documentation download downloads enterprise explore feed features feedback guide
  guides healthz help home install internal invitation invitations invite invites join jobs legal livez local login
  logout mcp metrics my-values new notifications oauth oauth2 og onboarding organization organizations og platform plans portal
  portals preferences pricing privacy profile project projects provider public readyz register registry robots rss
  search security self server servers session sessions settings signin signout signup sitemap sso static status
  subscribe support system templates terms tos tutorials upgrade usage user users v0 v0-1 v0.1 v1 v2 webhook webhooks
  welcome well-known .well-known favicon.ico favicon.svg robots.txt rss.xml sitemap.xml
`);

/** Host labels of the platform and of mail or DNS conventions, and labels that could be mistaken for them. */
const hostLabels = words(`
  abuse artifacts autoconfig autodiscover cdn cli dns email ftp forge gateway git github grafana hostmaster image
  images imap localhost mail media mta-sts mx noreply no-reply ns1 ns2 pop postmaster prometheus proxy root runner
  smtp storage telemetry towpath vpn webmail webmaster worker wpad www www1 www2 favicon
`);

/** Path segments below an organization, where project names are used too: `/{orgSlug}/{projectName}`. */
const organizationPages = words(`
  activity alerts analytics api-keys audit audit-log audits branches builds chat clients connect connections
  deployments domains environments gateways import inspector insights integrations limits logs members monitoring
  overview people permissions playground policies policy prompts resource-templates resources roles secrets sign-ins teams
  tokens tools traces variables
`);

const reservedSlugs: ReadonlySet<string> = new Set([...sitePages, ...hostLabels]);
const reservedNames: ReadonlySet<string> = new Set([...sitePages, ...hostLabels, ...organizationPages]);

/**
 * Whether a project's name or a preview's label is reserved, because it would conflict with a page of the dashboard or
 * could be mistaken for a host of the platform. Labels with `xn--` are internationalized names (RFC 5890). Existing
 * projects keep such a name; the dashboard addresses them by id (`projectPathName`).
 */
export function isReservedName(name: string): boolean {
  const label = name.toLowerCase();
  return reservedNames.has(label) || label.startsWith("-") || label.startsWith("xn--");
}

/** Whether an organization's slug would conflict with a page of the dashboard. */
export const isReservedSlug = (slug: string): boolean => reservedSlugs.has(slug) || slug.startsWith("xn--");

/** Path segment of a project in the dashboard: its name, or its id when a page has that name. */
export const projectPathName = (project: { readonly id: string; readonly name: string }): string =>
  isReservedName(project.name) ? project.id : project.name;
