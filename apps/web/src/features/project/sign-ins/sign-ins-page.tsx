import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import { clientGuides } from "@towpath/mcp/connect";
import { Search, SearchX, Stethoscope } from "lucide-react";
import { useEffect, useState } from "react";
import type { SignInAttemptView } from "~/features/project/request-log/sign-in-attempts.server.ts";
import { useLogChanges } from "~/features/project/request-log/use-log-changes.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input } from "~/ui/field.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { Attempt, attemptStates } from "./attempt.tsx";
import { type SignInSearch, shownStates } from "./sign-in-search.ts";
import { signInsQuery } from "./sign-ins.functions.ts";

/** For each client; older ones rarely have the same problem. */
const shownAttempts = 5;
/** Polling interval when too many pages are open for notifications of changes. */
const pollMs = 5000;

type SignInsPageProps = {
  readonly projectKey: ProjectKey;
  readonly search: SignInSearch;
  readonly onSearch: (change: Partial<SignInSearch>) => void;
};

/** Why a client can't connect: its last attempts, step by step, with the reason (GW-5). */
export function SignInsPage({ projectKey, search, onSearch }: SignInsPageProps) {
  const queryClient = useQueryClient();
  const query = signInsQuery(projectKey);
  const refetch = () => void queryClient.refetchQueries({ queryKey: query.queryKey, type: "active" });
  const isNotified = useLogChanges(projectKey, true, refetch, () => {});
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data } = useSuspenseQuery(isNotified ? query : { ...query, refetchInterval: pollMs });
  const attempts = data.attempts.filter((attempt) => matches(attempt, search));
  const clients = [...Map.groupBy(attempts, clientKey).values()];
  return (
    <>
      <PageHeader
        title="Sign-ins"
        description="Why can't my client connect? The last attempts of each client, step by step, as they happen."
      />
      <div className="flex max-w-4xl flex-col gap-4">
        <ModeHint mode={project.authMode} />
        {data.leftOut > 0 ? (
          <Callout tone="warn" title={`${data.leftOut} steps were left out`}>
            Too many attempts came at once from strangers or one network, so this page is incomplete.
          </Callout>
        ) : null}
        {data.attempts.length === 0 ? (
          <Card>
            <HowToTry project={project} />
          </Card>
        ) : (
          <Filters search={search} onSearch={onSearch} />
        )}
        {data.attempts.length > 0 && clients.length === 0 ? (
          <Card>
            <EmptyState
              icon={<SearchX />}
              title="No attempt matches"
              actions={<Button onClick={() => onSearch({ state: "all", client: undefined })}>Clear the filters</Button>}
            >
              Only the last attempts of each client are kept here. Older ones are gone.
            </EmptyState>
          </Card>
        ) : (
          clients.map((attempts) => (
            <ClientCard key={clientKey(attempts[0] as SignInAttemptView)} attempts={attempts} projectKey={projectKey} />
          ))
        )}
      </div>
    </>
  );
}

const nameOf = ({ clientName, agent, clientId }: SignInAttemptView) =>
  clientName ?? agent ?? clientId ?? "Unknown client";

const matches = (attempt: SignInAttemptView, { state, client = "" }: SignInSearch): boolean =>
  (state === "all" || attempt.state === state) &&
  [nameOf(attempt), attempt.clientId ?? ""].some((text) => text.toLowerCase().includes(client.trim().toLowerCase()));

const states = shownStates.map((value) => ({
  value,
  label: value === "all" ? "All attempts" : attemptStates[value].label,
}));

const typingMs = 250;

function Filters({ search, onSearch }: Pick<SignInsPageProps, "search" | "onSearch">) {
  const text = search.client ?? "";
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onSearch({ client: typed || undefined }), typingMs);
    return () => clearTimeout(timer);
  }, [typed, text, onSearch]);
  return (
    <search className="flex flex-wrap gap-2">
      <div className="w-full sm:w-64">
        <Input
          type="search"
          aria-label="Filter by client"
          placeholder="Filter by client"
          leading={<Search />}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Select
        aria-label="Result"
        className="w-40 max-sm:flex-1"
        value={search.state}
        onChange={(state) => onSearch({ state })}
        options={states}
      />
      <ViewsButton list="sign-ins" />
    </search>
  );
}

/** Equal for the same client on several machines. */
const clientKey = ({ clientId, clientName, agent }: SignInAttemptView) =>
  clientId?.startsWith("https://") ? clientId : (clientName ?? agent?.split("/", 1)[0] ?? clientId ?? "unknown");

type ClientCardProps = {
  readonly attempts: readonly SignInAttemptView[];
  readonly projectKey: ProjectKey;
};

function ClientCard({ attempts, projectKey }: ClientCardProps) {
  const [latest] = attempts;
  if (!latest) return null;
  const name = attempts.find(({ clientName }) => clientName !== null)?.clientName ?? latest.agent ?? "Unknown client";
  const host = latest.clientId?.startsWith("https://") ? new URL(latest.clientId).host : null;
  return (
    <Card aria-label={name}>
      <CardHeader
        title={
          <span className="break-words" dir="auto">
            {name}
          </span>
        }
        description={host ?? (latest.clientId === null ? "Known only by its User-Agent" : "Registered itself")}
        actions={<Badge tone="outline">{attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts`}</Badge>}
      />
      <ul className="border-t">
        {attempts.slice(0, shownAttempts).map((attempt, index) => (
          <Attempt key={attempt.id} attempt={attempt} isOpen={index === 0} projectKey={projectKey} />
        ))}
      </ul>
    </Card>
  );
}

function ModeHint({ mode }: { readonly mode: AuthMode }) {
  if (mode === "towpath-cloud") return null;
  return (
    <Callout tone="info" title="This server doesn't use Towpath sign-in">
      {mode === "towpath-public"
        ? "Anyone with its URL can call it. If a client can't connect, look at the logs."
        : "It has its own sign-in. If a client can't connect, look at the logs and at the server's own log."}
    </Callout>
  );
}

type Project = { readonly name: string; readonly url: string; readonly authMode: AuthMode; readonly orgSlug: string };

function HowToTry({ project }: { readonly project: Project }) {
  const command = clientGuides(project, { way: "open" }).find(({ id }) => id === "inspector")?.snippet;
  return (
    <EmptyState
      icon={<Stethoscope />}
      title="No client has tried to connect yet"
      example={command && { code: command.code, label: "command" }}
      docs={["sign-in", "Who can call a server"]}
    >
      <p>
        Paste the server's URL into a client such as Claude, Cursor or VS Code, without an API key. Each of its steps
        appears here within seconds. Calls with an API key appear only when the key is refused. Manage keys under{" "}
        <Link
          to="/$orgSlug/settings/api-keys"
          params={{ orgSlug: project.orgSlug }}
          className="font-medium text-accent-text underline underline-offset-2"
        >
          API keys
        </Link>
        . Or try it from a terminal, which opens your browser:
      </p>
    </EmptyState>
  );
}
