import { documentPath } from "./document-path.ts";

/** A page of the documentation. */
export type DocumentSummary = {
  /** `/docs/{slug}`; the first page is `/docs` itself. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** The Markdown file, from the root of the repository. */
  readonly file: string;
};

type Entry = readonly [slug: string, title: string, description: string];
type Group = { readonly title: string; readonly pages: readonly DocumentSummary[] };

/** Written for this site. */
const own = (...[slug, title, description]: Entry): DocumentSummary => ({
  slug,
  title,
  description,
  file: `apps/web/src/features/site/docs/pages/${slug || "start"}.md`,
});
/** A document of the repository, which tests compare with the code. */
const ofRepository = (...[slug, title, description]: Entry): DocumentSummary => ({
  slug,
  title,
  description,
  file: `docs/${slug}.md`,
});

/** All pages of the documentation, in reading order. */
export const contents: readonly Group[] = [
  {
    title: "Get started",
    pages: [
      own("", "Quickstart", "Run Towpath on your machine and call your first MCP server."),
      own("deploy", "Deploy a server", "From a repository or a directory to a live endpoint, and what a build does."),
      own("clients", "Connect a client", "Add a server to Claude, Cursor, VS Code and other MCP clients."),
    ],
  },
  {
    title: "Access",
    pages: [
      ofRepository("sign-in", "Who can call a server", "Members only, open to anyone, or the server's own sign-in."),
      own("api-keys", "API keys", "Let scripts and clients without a browser call a server."),
      ofRepository("roles", "Roles and permissions", "What each role can do, and which tools callers may use."),
      ofRepository("identity", "Who is calling", "How a server learns which person or key sent a request."),
      own("limits", "Limits of calls", "How many calls a server takes, from each caller and from all."),
      own(
        "long-calls",
        "Long calls",
        "A call whose connection breaks goes on, and its caller gets the result by asking again.",
      ),
    ],
  },
  {
    title: "Run a server",
    pages: [
      own("variables", "Environment variables", "Set a server's secrets and settings, for production and previews."),
      own("edit", "Edit the code", "Change files in the browser, commit and deploy them, and fix a failed build."),
      own("previews", "Previews and rollbacks", "A URL for every branch, and how to return to an earlier deployment."),
      ofRepository(
        "pull-request-check",
        "Replayed calls",
        "The check of a pull request asks the preview what production was asked, and names different answers.",
      ),
      ofRepository(
        "what-counts-as-different",
        "What counts as different",
        "How the answers of two versions are compared.",
      ),
      own("releases", "Releases", "Give a new version a share of the sessions first, or let it wait for an approval."),
      own("logs", "Logs", "Find a call, see why it failed, and read what the server printed."),
      own("errors", "Errors", "Failed calls by their cause, with the line that raised it."),
      own(
        "alerts",
        "Alerts",
        "Messages when a server fails: email, Slack, Discord, Microsoft Teams or a signed webhook.",
      ),
      ofRepository(
        "observability",
        "What happened to a call",
        "Codes of refusals, request ids, payloads; metrics, traces and logs for the operator.",
      ),
      own("external-servers", "External servers", "Put a server that runs elsewhere behind Towpath's access and logs."),
      own("portals", "Portals", "Offer chosen tools of several servers at one address."),
      own("chat", "Chat, inspector and surface", "Try tools by hand or in a chat, and see how they are used."),
      own("public-pages", "Public pages", "Show a server, or how all are doing, to anybody."),
    ],
  },
  {
    title: "Organization and account",
    pages: [
      own("organization", "Organization", "Servers, members, the audit log, GitHub and the instance."),
      own("account", "Your account", "Sign-in, two factors, sessions, profile and preferences."),
    ],
  },
  {
    title: "Reference",
    pages: [
      own("cli", "Command line", "Every command of ./towpath with its options."),
      own("ci", "CI", "Deploy on push from GitHub Actions, or from any other CI."),
      ofRepository("rest", "REST API", "Every route that scripts can call, with its permission."),
      own("troubleshooting", "Troubleshooting", "Error messages of builds and calls: what they mean and what to do."),
    ],
  },
  {
    title: "Operate",
    pages: [
      ofRepository(
        "configuration",
        "Configuration",
        "Every setting of an instance, with its default and what it must be.",
      ),
      ofRepository(
        "https",
        "HTTPS and domains",
        "Put an instance on the internet, with certificates of its own or behind a proxy.",
      ),
      ofRepository("containers", "Containers", "One image, a compose file, and what servers need inside a container."),
      ofRepository("kubernetes", "Kubernetes", "The Helm chart: its values, the rights that it takes, and upgrades."),
      ofRepository(
        "operating",
        "Operating",
        "Back up, upgrade, replace keys, and what keeps working when a part is down.",
      ),
      ofRepository("retention", "Retention", "How long Towpath keeps data, and what happens when the disk fills up."),
    ],
  },
];

export const documents: readonly DocumentSummary[] = contents.flatMap(({ pages }) => pages);

/** Where a link between Markdown files leads: to the page of that file, or nowhere, because the site doesn't have it. */
export function documentLink(href: string): { readonly href: string; readonly title: string } | null {
  const [, name = "", anchor = ""] = /^(?:\.\.\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  const found = documents.find(({ file }) => file.endsWith(`/${name}.md`));
  return found ? { href: `${documentPath(found.slug)}${anchor}`, title: found.title } : null;
}
