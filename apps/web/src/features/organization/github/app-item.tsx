import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { type GitHubAppView, gitHubAppsQuery, removeGitHubApp, renewWebhookSecret } from "./apps.functions.ts";
import { ChangeAppKeys } from "./change-app-keys.tsx";

type Props = { readonly orgSlug: string; readonly app: GitHubAppView };

/** A GitHub App with its problems and actions. */
export function AppItem({ orgSlug, app }: Props) {
  const { hostName, appSlug, ownerLogin, createdAt, accounts, suspended, servers, health, id } = app;
  const settingsUrl = health.settingsUrl;
  return (
    <article aria-label={`${appSlug} (${hostName})`} className="flex flex-col gap-3 px-4 py-3.5">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h3 className="flex flex-wrap items-center gap-2 text-base font-medium">
            <span className="break-all">{appSlug}</span>
            {health.problems.length === 0 ? <Badge tone="ok">Works</Badge> : <Badge tone="warn">Needs attention</Badge>}
          </h3>
          <p className="text-xs text-muted">
            {hostName}
            {ownerLogin === null ? null : ` · owned by ${ownerLogin}`} ·{" "}
            {createdAt === null ? (
              "set by the environment"
            ) : (
              <>
                connected <RelativeTime time={createdAt} />
              </>
            )}{" "}
            · {counted(accounts.length, "account")} · {counted(servers.length, "server")}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          {settingsUrl ? (
            <a href={settingsUrl} className={buttonLook()}>
              <ExternalLink /> App settings
            </a>
          ) : null}
          {id === null ? null : <Changes orgSlug={orgSlug} app={app} id={id} />}
        </div>
      </div>
      {health.problems.map(({ title, detail, url }) => (
        <Callout
          key={title}
          tone="warn"
          title={title}
          actions={
            url === null ? null : (
              <a href={url} className="font-medium underline">
                Open the App's settings
              </a>
            )
          }
        >
          {detail}
        </Callout>
      ))}
      {suspended.length > 0 ? (
        <Callout tone="warn" title={`Suspended by ${list(suspended)}`}>
          Pushes there start no builds until the account's owner resumes the App. Live servers keep running.
        </Callout>
      ) : null}
      {health.notes.map((fact) => (
        <p key={fact} className="text-sm text-muted">
          {fact}
        </p>
      ))}
    </article>
  );
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;
const list = (names: readonly string[]) => new Intl.ListFormat("en").format(names);

/** Names that a dialog lists before it counts the rest. */
const maxNames = 8;

function Changes({ orgSlug, app, id }: Props & { readonly id: string }) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const [question, setQuestion] = useState<Question | null>(null);
  const { appSlug, hostName, servers } = app;
  const refresh = () => queryClient.invalidateQueries({ queryKey: gitHubAppsQuery(orgSlug).queryKey });
  const renew = () =>
    setQuestion({
      title: "Change the webhook secret?",
      description: `${hostName} gets a new secret and this instance's webhook address.`,
      action: "Change secret",
      run: async () => {
        await renewWebhookSecret({ data: { orgSlug, connectionId: id } });
        await refresh();
      },
    });
  const remove = async (confirmation: string) => {
    await removeGitHubApp({ data: { orgSlug, connectionId: id, confirmation } });
    // First the page forgets the App: links to it lead nowhere now.
    await router.invalidate();
    await refresh();
    await queryClient.invalidateQueries({ queryKey: ["installations"] });
  };
  const others = servers.length - maxNames;
  const names = others > 0 ? [...servers.slice(0, maxNames), `${others} more`] : servers;
  return (
    <>
      <ChangeAppKeys orgSlug={orgSlug} app={app} id={id} />
      <Button onClick={renew}>Change webhook secret</Button>
      <ConfirmDeletion
        label="Remove"
        name={appSlug}
        description="You can connect an App again later."
        failed="The App is still connected"
        onConfirm={remove}
      >
        <p>
          {servers.length === 0
            ? "No server is built from repositories of this App."
            : `These servers lose their source: ${list(names)}. They stay live, but pushes won't start builds.`}
        </p>
        <p className="mt-2">
          Its keys are deleted here. The App itself stays on {hostName}: delete it in its settings there.
        </p>
      </ConfirmDeletion>
      <Ask question={question} onClose={() => setQuestion(null)} />
    </>
  );
}
