import { Link } from "@tanstack/react-router";
import type { ProjectListItem } from "@towpath/core/project";
import { BuildStatusLabel } from "~/features/build/build-status.tsx";
import { AuthModeBadge, LiveLabel } from "~/features/project-screen/project-labels.tsx";
import { Badge } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { CopyButton } from "~/ui/icon-button.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";

/** One row per server: name, status, endpoint and latest build. */
export function ServerTable({
  servers,
  orgSlug,
  selected,
}: {
  readonly servers: readonly ProjectListItem[];
  readonly orgSlug: string;
  readonly selected?: string | undefined;
}) {
  return (
    <Table label="Servers">
      <TableHead>
        <Th>Server</Th>
        <Th>Status</Th>
        <Th>Endpoint</Th>
        <Th>Latest build</Th>
      </TableHead>
      <TableBody>
        {servers.map((server) => (
          <Tr
            key={server.id}
            aria-current={server.name === selected ? "true" : undefined}
            className={classNames(server.name === selected && "bg-accent-soft")}
          >
            <Td wide>
              <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
                <Link
                  to="/$orgSlug/$projectName/deployments"
                  params={{ orgSlug, projectName: server.pathName }}
                  className="font-medium underline-offset-3 hover:underline"
                >
                  {server.name}
                </Link>
                <AuthModeBadge mode={server.authMode} />
                {server.external ? <Badge tone="info">External</Badge> : null}
              </div>
              <p className="truncate text-xs text-muted">
                {server.external
                  ? new URL(server.external.url).host
                  : (server.githubRepository?.fullName ?? "No repository")}
              </p>
            </Td>
            <Td label="Status">
              <LiveLabel server={server} />
            </Td>
            <Td label="Endpoint" wide>
              <div className="flex min-w-0 items-center gap-1">
                <code className="min-w-0 truncate text-xs text-muted">{server.url}</code>
                <CopyButton text={server.url} label={`Copy the URL of ${server.name}`} />
              </div>
            </Td>
            <Td label="Latest build">
              {server.latestBuild ? (
                <Link
                  to="/$orgSlug/$projectName/build-logs/$buildId"
                  params={{ orgSlug, projectName: server.pathName, buildId: server.latestBuild.id }}
                  className="inline-flex flex-wrap items-center gap-x-2 underline-offset-3 hover:underline"
                >
                  <BuildStatusLabel status={server.latestBuild.status} warnings={server.latestBuild.warningCount} />
                  <RelativeTime time={server.latestBuild.createdAt} />
                </Link>
              ) : (
                <span className="text-muted">{server.external ? "Built elsewhere" : "None yet"}</span>
              )}
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}
