import { clientGuides } from "@towpath/mcp/connect";
import { ChevronRight, Clock, FileText, MessageSquareText, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { Copyable } from "~/features/site/public-site/copyable.tsx";
import { Badge, StatusDot } from "~/ui/badge.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Main } from "~/ui/main.tsx";
import type { RegistryData } from "./registry.functions.ts";
import type { OfferedItem, RegistryOffers } from "./registry-offers.ts";

const authLabels = {
  "towpath-public": "Open to anyone",
  "towpath-cloud": "Sign-in required",
  passthrough: "Own sign-in",
} as const;

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

/** The public page of a project (PUB-10). Everything here was written by its owner, so it is shown as text only. */
export function RegistryPage({ entry }: { readonly entry: RegistryData }) {
  const { offers } = entry;
  return (
    <Main className="outline-none mx-auto w-full max-w-[1280px] px-4 py-10 sm:px-6 sm:py-14">
      <Header entry={entry} />
      <div className="mt-9 grid gap-x-12 gap-y-10 max-lg:grid-cols-[minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_22rem]">
        <aside className="min-w-0 lg:order-2">
          <ConnectCard entry={entry} />
        </aside>
        <div className="flex min-w-0 flex-col gap-10">
          {offers ? (
            <Offers offers={offers} />
          ) : (
            <EmptyState icon={<Clock />} title={entry.liveAt ? "Sign in to see its tools" : "Not live yet"}>
              {entry.liveAt
                ? "This server shows its tools only to callers who sign in."
                : "Its tools appear here after the first successful build."}
            </EmptyState>
          )}
        </div>
      </div>
    </Main>
  );
}

function Header({ entry }: { readonly entry: RegistryData }) {
  const { offers, liveAt, meta, repository } = entry;
  return (
    <header className="flex flex-col gap-4 border-b pb-8">
      <div className="flex items-center gap-3.5">
        <img src={meta.favicon} alt="" width={44} height={44} className="size-11 shrink-0" />
        <div className="min-w-0">
          <h1 className="text-3xl font-semibold tracking-tight wrap-anywhere">{entry.title}</h1>
          {/* A server without a title of its own has the project's name. */}
          {entry.title === entry.projectName ? null : (
            <p className="font-mono text-xs text-faint wrap-anywhere">{entry.projectName}</p>
          )}
        </div>
      </div>
      <p className="max-w-prose text-lg whitespace-pre-line text-pretty text-muted wrap-anywhere">
        {entry.description}
      </p>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <Badge tone={liveAt ? "ok" : "neutral"}>
          <StatusDot tone={liveAt ? "ok" : "neutral"} />
          {liveAt ? "Live" : "Not live yet"}
        </Badge>
        <Badge tone="outline">{authLabels[entry.authMode]}</Badge>
        {offers ? <Badge tone="outline">MCP {offers.protocolVersion}</Badge> : null}
        {liveAt ? (
          <span className="text-muted">
            Updated <time dateTime={liveAt}>{day.format(new Date(liveAt))}</time>
          </span>
        ) : null}
        {repository ? <span className="text-muted wrap-anywhere">from {repository}</span> : null}
      </div>
    </header>
  );
}

function Offers({ offers }: { readonly offers: RegistryOffers }) {
  const { tools, resources, prompts } = offers;
  return (
    <>
      <Section icon={<Wrench />} title="Tools" count={tools.length} none="This server has no tools.">
        {tools.map((tool) => (
          <ToolCard key={tool.name} tool={tool} />
        ))}
      </Section>
      {resources.length > 0 ? (
        <Section icon={<FileText />} title="Resources" count={resources.length}>
          {resources.map((item) => (
            <Item key={item.detail} item={item} />
          ))}
        </Section>
      ) : null}
      {prompts.length > 0 ? (
        <Section icon={<MessageSquareText />} title="Prompts" count={prompts.length}>
          {prompts.map((item) => (
            <Item key={item.name} item={item} />
          ))}
        </Section>
      ) : null}
    </>
  );
}

function Section(section: { icon: ReactNode; title: string; count: number; none?: string; children: ReactNode }) {
  const { icon, title, count, none, children } = section;
  return (
    <section aria-label={title}>
      <h2 className="flex items-center gap-2 text-base font-semibold tracking-tight [&_svg]:size-4 [&_svg]:text-faint">
        {icon}
        {title}
        <span className="tabular text-sm font-normal text-muted">{count}</span>
      </h2>
      {count > 0 ? (
        <div className="mt-3 divide-y rounded-lg border bg-surface">{children}</div>
      ) : (
        <p className="mt-2 text-sm text-muted">{none}</p>
      )}
    </section>
  );
}

function Item({ item: { name, detail, description } }: { readonly item: OfferedItem }) {
  return (
    <div className="px-4 py-3">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="text-sm font-medium wrap-anywhere">{name}</h3>
        {detail ? <code className="text-xs text-muted wrap-anywhere">{detail}</code> : null}
      </div>
      {description ? <p className="mt-0.5 text-sm text-pretty text-muted wrap-anywhere">{description}</p> : null}
    </div>
  );
}

const descriptions = {
  "towpath-public": "Anyone can call this server. Your client needs only the URL.",
  "towpath-cloud": "Members sign in from their client, which needs only the URL. Scripts send an API key.",
  passthrough: "The server asks you to sign in itself. Your client needs only the URL.",
} as const;

/** How to connect a client: the URL, a link for each client that has one, a command. */
function ConnectCard({ entry }: { readonly entry: RegistryData }) {
  const { url, authMode } = entry;
  // Visitors have no keys: clients sign in, or ask for one.
  const guides = clientGuides({ name: entry.projectName.toLowerCase(), url }, { way: "open" });
  const claudeCode = guides.find(({ id }) => id === "claude-code")?.snippet;
  return (
    <Card className="sticky top-24">
      <CardHeader title="Connect" description={descriptions[authMode]} />
      <CardBody className="flex flex-col gap-4">
        <Copyable text={url} label="Copy URL" />
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Add it to your client</h3>
          <ul className="flex flex-wrap gap-2">
            {guides.map(({ id, link, snippet }) =>
              // Links without a snippet lead to a site's settings.
              link && snippet ? (
                <li key={id}>
                  <a href={link.href} className={buttonLook()}>
                    {link.label}
                  </a>
                </li>
              ) : null,
            )}
          </ul>
        </div>
        {claudeCode && (
          <div>
            <h3 className="mb-1.5 text-sm font-medium">Claude Code</h3>
            <Copyable text={claudeCode.code} label="Copy command" />
          </div>
        )}
      </CardBody>
    </Card>
  );
}

type Tool = RegistryOffers["tools"][number];

/** A tool with its arguments. A native disclosure, which opens without a script. */
function ToolCard({ tool }: { readonly tool: Tool }) {
  const rows = tool.arguments;
  return (
    <div className="px-4 py-3.5">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <h3 className="wrap-anywhere">
          <code className="text-sm font-semibold">{tool.name}</code>
        </h3>
        {tool.isReadOnly ? <Badge tone="outline">Read-only</Badge> : null}
        {tool.isDestructive ? <Badge tone="warn">Destructive</Badge> : null}
      </div>
      {tool.description ? (
        <p className="mt-1 max-w-prose text-sm whitespace-pre-line text-pretty text-muted wrap-anywhere">
          {tool.description}
        </p>
      ) : null}
      {rows.length > 0 ? (
        <details className="group mt-2">
          <summary className="inline-flex list-none items-center gap-1 rounded-sm text-sm text-accent-text select-none [&::-webkit-details-marker]:hidden">
            <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" />
            {rows.length} {rows.length === 1 ? "argument" : "arguments"}
          </summary>
          <dl className="mt-2 flex flex-col gap-2 border-l pl-3.5 text-sm">
            {rows.map(({ name, type, isRequired, description, defaultValue }) => (
              <div key={name}>
                <dt className="flex flex-wrap items-baseline gap-x-2 wrap-anywhere">
                  <code className="font-medium">{name}</code>
                  <span className="text-muted">{type}</span>
                  <span className={isRequired ? "text-xs font-medium text-accent-text" : "text-xs text-muted"}>
                    {isRequired ? "required" : defaultValue === null ? "optional" : `default ${defaultValue}`}
                  </span>
                </dt>
                {description ? <dd className="text-pretty text-muted wrap-anywhere">{description}</dd> : null}
              </div>
            ))}
          </dl>
        </details>
      ) : null}
    </div>
  );
}
