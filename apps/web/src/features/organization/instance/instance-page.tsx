import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { HostIsolationView, Protection } from "@towpath/core/operations/host-isolation";
import type { HostStorageView } from "@towpath/core/operations/host-storage";
import { ShieldQuestion } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { BackupCard } from "./backup-card.tsx";
import { instanceIsolationQuery, instanceReleaseQuery, instanceStorageQuery } from "./instance.functions.ts";
import { protectionWords } from "./protections.ts";

/** The host's protections that isolate servers, its operator's exceptions, its back-ups, disk and release. */
export function InstancePage({ orgSlug }: { readonly orgSlug: string }) {
  const { data } = useSuspenseQuery(instanceIsolationQuery(orgSlug));
  return (
    <div className="max-w-4xl">
      <PageHeader
        title="Instance"
        description="How the host isolates servers and builds, its last back-up, its disk, and what it runs. Towpath tests each protection from inside a sandbox when it starts."
      />
      {data.reportedAt === null ? (
        <Card>
          <EmptyState icon={<ShieldQuestion />} title="Not known yet">
            The runner of this instance has not reported yet. If this doesn't change within a minute, check its log.
          </EmptyState>
        </Card>
      ) : (
        <Report view={data} reportedAt={data.reportedAt} />
      )}
      <BackupCard orgSlug={orgSlug} />
      <InstanceStorage orgSlug={orgSlug} />
      <InstanceRelease orgSlug={orgSlug} />
    </div>
  );
}

function Report({ view, reportedAt }: { readonly view: HostIsolationView; readonly reportedAt: string }) {
  return (
    <div className="space-y-4">
      {view.current ? null : (
        <Callout tone="warn" title={<UnknownSince time={reportedAt} />}>
          The runner has stopped reporting. This is its last report.
        </Callout>
      )}
      {view.problems.map((problem) => (
        <Callout key={problem} tone="bad" title={problemTitle(view)}>
          {problem}
        </Callout>
      ))}
      {view.warnings.map((warning) => (
        <Callout key={warning} tone="warn" title="This instance lacks what it needs">
          {warning}
        </Callout>
      ))}
      <Card>
        <CardHeader
          title="Protections"
          description={
            <>
              {view.isolatedBy === null ? null : <>{isolationWords[view.isolatedBy]} </>}
              Reported <RelativeTime time={reportedAt} />
            </>
          }
        />
        <ul aria-label="Protections" className="border-t">
          {view.protections.map((protection) => (
            <ProtectionRow key={protection.name} protection={protection} known={view.current} />
          ))}
        </ul>
      </Card>
      {view.exceptions.length > 0 ? <Exceptions exceptions={view.exceptions} /> : null}
    </div>
  );
}

/** What a problem means for servers. */
function problemTitle({ isolatedBy, trusted, refuses }: HostIsolationView): string {
  if (isolatedBy === "pods" && !refuses) return "Servers and builds run without a protection";
  return isolatedBy !== "pods" && trusted
    ? "Servers that need the network are refused"
    : "Servers and builds are refused";
}

const isolationWords = {
  bubblewrap: "Servers and builds run in bubblewrap, on the host's kernel.",
  // The figures of docs/operating.md, to which it leads.
  gvisor: (
    <>
      Servers and builds run on gVisor's kernel, within bubblewrap. Beside bubblewrap alone, a start takes 1.5 times as
      long, a waiting server 1.6 times the memory, and the gateway gets 0.8 times as many calls a second through:{" "}
      <Link to="/docs/$slug" params={{ slug: "operating" }} hash="gvisor" className="font-medium underline">
        what gVisor costs
      </Link>
      .
    </>
  ),
  pods: "Servers and builds run in pods of a cluster.",
  none: "No server and no build is isolated.",
} as const;

const UnknownSince = ({ time }: { readonly time: string }) => (
  <>
    Unknown since <RelativeTime time={time} />
  </>
);

const badges = {
  on: <Badge tone="ok">In force</Badge>,
  off: <Badge tone="bad">Missing</Badge>,
  untried: <Badge>Not tested</Badge>,
} as const;

function ProtectionRow({ protection, known }: { readonly protection: Protection; readonly known: boolean }) {
  const { title, promise } = protectionWords[protection.name];
  return (
    <li className="flex items-start gap-x-4 border-b px-4 py-2.5 text-sm last:border-b-0">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        <p className="break-words text-muted">{protection.state === "off" ? protection.detail : promise}</p>
      </div>
      {known ? badges[protection.state] : <Badge>Unknown</Badge>}
    </li>
  );
}

function Exceptions({ exceptions }: Pick<HostIsolationView, "exceptions">) {
  return (
    <Card>
      <CardHeader title="Exceptions" description="Settings that loosen Towpath's defaults." />
      <ul aria-label="Exceptions" className="border-t">
        {exceptions.map(({ setting, meaning }) => (
          <li key={setting} className="border-b px-4 py-2.5 text-sm last:border-b-0">
            <code className="text-xs break-all">{setting}</code>
            <p className="text-muted">{meaning}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Disk usage of the hosts that build; nothing until one reports (LOG-6). */
function InstanceStorage({ orgSlug }: { readonly orgSlug: string }) {
  const { data: hosts } = useSuspenseQuery(instanceStorageQuery(orgSlug));
  return hosts.map((host) => (
    <Card key={host.host} aria-label={`Disk of ${host.host}`} className="mt-4">
      <CardHeader
        title={hosts.length > 1 ? `Disk of ${host.host}` : "Disk"}
        description={`${gigabytes(host.availableBytes)} left for Towpath. Below ${gigabytes(host.reserveBytes)}, builds don't start.`}
        actions={host.low ? <Badge tone="bad">Almost full</Badge> : <Badge tone="ok">Room for builds</Badge>}
      />
      <Directories host={host} />
      <Pythons host={host} />
    </Card>
  ));
}

function Directories({ host }: { readonly host: HostStorageView }) {
  const directories = Object.entries(host.kinds).toSorted(([, one], [, two]) => two - one);
  return (
    <ul aria-label="Directories" className="border-t">
      {directories.map(([directory, bytes]) => (
        <li key={directory} className="flex justify-between gap-x-4 border-b px-4 py-2 text-sm last:border-b-0">
          <span className="min-w-0 break-words">{labels[directory] ?? directory}</span>
          <span className="tabular text-muted">{gigabytes(bytes)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Pythons for builds, installed and downloaded (BLD-18); nothing until a worker reports them. */
function Pythons({ host: { pythons } }: { readonly host: HostStorageView }) {
  if (pythons === undefined) return null;
  return (
    <div className="border-t px-4 py-2.5 text-sm">
      <p className="font-medium">Python versions</p>
      <ul aria-label="Python versions" className="mt-1.5 flex flex-wrap gap-1.5">
        {pythons.map(({ version, isDownloaded }) => (
          <li key={version}>
            <Badge tone={isDownloaded ? "outline" : "neutral"}>
              {isDownloaded ? `${version}, downloaded` : version}
            </Badge>
          </li>
        ))}
      </ul>
      <p className="mt-1.5 text-muted">
        A build that asks for another version downloads it, unless <code>TOWPATH_PYTHON_DOWNLOADS</code> is{" "}
        <code>no</code>.
      </p>
    </div>
  );
}

/** The same words as of `./towpath --version`, metrics and REST (OPS-3). */
function InstanceRelease({ orgSlug }: { readonly orgSlug: string }) {
  const { data: release } = useSuspenseQuery(instanceReleaseQuery(orgSlug));
  const parts = Object.entries(release).filter(([, value]) => value !== null);
  return (
    <Card aria-label="Release" className="mt-4">
      <CardHeader title="Release" description="What this instance runs." />
      <dl className="border-t">
        {parts.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-x-4 border-b px-4 py-2 text-sm last:border-b-0">
            <dt className="capitalize">{name}</dt>
            <dd className="break-all text-muted">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** By directory name in the data directory. */
const labels: Readonly<Record<string, string>> = {
  artifacts: "Layers of deployments",
  builds: "Running builds",
  cache: "Caches",
  gateway: "Log rows waiting for the database",
  logs: "Logs of Towpath's processes",
  postgres: "Database",
  pythons: "Downloaded Pythons",
  repositories: "Repositories",
  run: "Sockets and control files",
  trash: "Waiting to be deleted",
  volumes: "Data of servers",
};

function gigabytes(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  if (bytes > 0 && megabytes < 0.5) return "< 1 MB";
  return megabytes < 1000 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}
