import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown, ExternalLink, Lock } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button, buttonLook, PlainButton } from "~/ui/button.tsx";
import { Callout, NotLoaded } from "~/ui/callout.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { type Connection, disconnect, repositoriesQuery } from "./github.functions.ts";

/** A connected account: its state at GitHub, its repositories, and its actions. */
export function ConnectionCard({ orgSlug, connection }: { readonly orgSlug: string; readonly connection: Connection }) {
  const { accountLogin, accountType, createdAt, projectCount, gitHub } = connection;
  const settingsUrl = "settingsUrl" in gitHub ? gitHub.settingsUrl : null;
  return (
    <article aria-label={accountLogin} className="rounded-lg border bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
        <Avatar connection={connection} />
        <div className="min-w-0 flex-1 basis-40">
          <h2 className="flex items-center gap-2 text-base font-semibold">
            <span className="truncate">{accountLogin}</span>
            <StateBadge state={gitHub.state} />
          </h2>
          <p className="text-xs text-muted">
            {accountType === "Organization" ? "Organization" : "Personal account"} · connected{" "}
            <RelativeTime time={createdAt} /> · {projectCount === 1 ? "1 server" : `${projectCount} servers`}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {settingsUrl ? (
            <a href={settingsUrl} className={buttonLook()}>
              <ExternalLink /> Manage on GitHub
            </a>
          ) : null}
          {useMay("installation.disconnect") ? <Disconnect orgSlug={orgSlug} connection={connection} /> : null}
        </div>
      </header>
      <StateText connection={connection} />
      {gitHub.state === "connected" ? (
        <Repositories orgSlug={orgSlug} installationId={connection.installationId} selection={gitHub.repositories} />
      ) : null}
    </article>
  );
}

function Avatar({ connection: { accountLogin, gitHub } }: { readonly connection: Connection }) {
  const [isBroken, setBroken] = useState(false);
  const picture = useRef<HTMLImageElement>(null);
  // It may have failed before this script ran.
  useEffect(() => setBroken(picture.current?.complete === true && picture.current.naturalWidth === 0), []);
  if ("avatarUrl" in gitHub && !isBroken) {
    return (
      <img
        ref={picture}
        src={gitHub.avatarUrl}
        alt=""
        onError={() => setBroken(true)}
        className="size-9 rounded-full border bg-sunken"
      />
    );
  }
  return (
    <span
      aria-hidden
      className="flex size-9 items-center justify-center rounded-full bg-accent-soft text-sm font-semibold text-accent-text uppercase"
    >
      {accountLogin[0]}
    </span>
  );
}

function StateBadge({ state }: { readonly state: Connection["gitHub"]["state"] }) {
  if (state === "connected") return <Badge tone="ok">Connected</Badge>;
  if (state === "suspended") return <Badge tone="warn">Suspended</Badge>;
  return state === "revoked" ? <Badge tone="bad">Removed on GitHub</Badge> : <Badge>State unknown</Badge>;
}

function StateText({ connection: { gitHub, accountLogin } }: { readonly connection: Connection }) {
  if (gitHub.state === "connected") return null;
  const text = {
    suspended: `The owner of ${accountLogin} has suspended Towpath. Pushes won't start builds until they resume it on GitHub. Live servers keep running.`,
    revoked: `Towpath was removed from ${accountLogin} on GitHub. Pushes won't start builds. Connect the account again, or disconnect it here.`,
    unknown: "GitHub can't be reached right now, so Towpath can't check this connection.",
  }[gitHub.state];
  return (
    <Callout tone={gitHub.state === "unknown" ? "info" : "warn"} className="mx-4 mb-4">
      {text}
    </Callout>
  );
}

function Disconnect({ orgSlug, connection }: { readonly orgSlug: string; readonly connection: Connection }) {
  const queryClient = useQueryClient();
  const { installationId, accountLogin, projectCount } = connection;
  const remove = async () => {
    await disconnect({ data: { orgSlug, installationId } });
    await queryClient.invalidateQueries({ queryKey: ["installations", orgSlug] });
    await queryClient.invalidateQueries(profileQuery);
  };
  return (
    <ConfirmDeletion
      label="Disconnect"
      name={accountLogin}
      description="You can connect it again later."
      failed="The account is still connected"
      onConfirm={remove}
    >
      <p>
        {projectCount === 0
          ? "No server of this organization builds from this account."
          : projectCount === 1
            ? "1 server builds from this account. It keeps running, but pushes won't start builds."
            : `${projectCount} servers build from this account. They keep running, but pushes won't start builds.`}
      </p>
      <p className="mt-2">Repositories and the installed App stay on GitHub.</p>
    </ConfirmDeletion>
  );
}

type RepositoriesProps = {
  readonly orgSlug: string;
  readonly installationId: number;
  readonly selection: "all" | "selected";
};

/** Which repositories Towpath may read, listed on demand. */
function Repositories({ orgSlug, installationId, selection }: RepositoriesProps) {
  const [open, setOpen] = useState(false);
  return (
    <div className="border-t">
      <PlainButton
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-4 py-2.5 text-left text-sm hover:bg-hover"
      >
        <span className="min-w-0 flex-1">
          {selection === "all" ? "All repositories, including future ones" : "Selected repositories"}
        </span>
        <span className="text-xs text-muted">{open ? "Hide" : "Show"}</span>
        <ChevronDown className={open ? "size-4 rotate-180 text-faint" : "size-4 text-faint"} />
      </PlainButton>
      {open ? <RepositoryNames orgSlug={orgSlug} installationId={installationId} /> : null}
    </div>
  );
}

function RepositoryNames({ orgSlug, installationId }: { readonly orgSlug: string; readonly installationId: number }) {
  const query = useInfiniteQuery(repositoriesQuery(orgSlug, installationId));
  const names = (query.data?.pages ?? []).flatMap((page) => page.data);
  if (query.isPending) {
    return (
      <p role="status" className="flex items-center gap-2 border-t px-4 py-3 text-sm text-muted">
        <Spinner /> Loading repositories...
      </p>
    );
  }
  if (query.error) {
    return <NotLoaded what="the repositories" error={query.error} retry={query.refetch} className="m-3" />;
  }
  return (
    <div className="border-t px-4 py-2">
      {names.length === 0 ? <p className="py-1 text-sm text-muted">No repositories.</p> : null}
      <ul className="grid gap-x-6 sm:grid-cols-2">
        {names.map(({ id, full_name: name, private: isPrivate }) => (
          <li key={id} className="flex min-w-0 items-center gap-1.5 py-1 text-sm">
            <span className="truncate">{name}</span>
            {isPrivate ? <Lock className="size-3.5 shrink-0 text-faint" role="img" aria-label="Private" /> : null}
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <Button variant="ghost" size="sm" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      ) : null}
    </div>
  );
}
