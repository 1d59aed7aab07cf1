import { useSuspenseQuery } from "@tanstack/react-query";
import type { HostStorageView } from "@towpath/core/host-storage";
import { Badge } from "~/ui/badge.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { instanceStorageQuery } from "./instance.queries.ts";

/** How full the disks of the hosts are that build; nothing while none reports (LOG-6). */
export function InstanceStorage({ orgSlug }: { readonly orgSlug: string }) {
  const { data: hosts } = useSuspenseQuery(instanceStorageQuery(orgSlug));
  return hosts.map((host) => (
    <Card key={host.host} aria-label={`Disk of ${host.host}`} className="mt-4">
      <CardHeader
        title={hosts.length > 1 ? `Disk of ${host.host}` : "Disk"}
        description={`${gigabytes(host.availableBytes)} left for Towpath; below ${gigabytes(host.reserveBytes)} no build starts.`}
        actions={host.low ? <Badge tone="bad">Almost full</Badge> : <Badge tone="ok">Room for builds</Badge>}
      />
      <Directories host={host} />
    </Card>
  ));
}

function Directories({ host }: { readonly host: HostStorageView }) {
  const directories = Object.entries(host.kinds).toSorted(([, one], [, two]) => two - one);
  return (
    <ul aria-label="Folders" className="border-t">
      {directories.map(([directory, bytes]) => (
        <li key={directory} className="flex justify-between gap-x-4 border-b px-4 py-2 text-sm last:border-b-0">
          <span className="min-w-0 break-words">{labels[directory] ?? directory}</span>
          <span className="tabular text-muted">{gigabytes(bytes)}</span>
        </li>
      ))}
    </ul>
  );
}

/** By the name of the folder in the data directory. */
const labels: Readonly<Record<string, string>> = {
  artifacts: "Layers of deployments",
  builds: "Builds that run now",
  cache: "Caches",
  forge: "Repositories of the local forge",
  gateway: "Log rows that wait for the database",
  logs: "Logs of Towpath's processes",
  postgres: "Database",
  trash: "Waiting to be deleted",
};

function gigabytes(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  return megabytes < 1000 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}
