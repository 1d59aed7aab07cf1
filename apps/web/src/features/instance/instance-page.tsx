import { useSuspenseQuery } from "@tanstack/react-query";
import type { HostIsolationView, Protection } from "@towpath/core/host-isolation";
import { ShieldQuestion } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { RelativeTime } from "~/ui/relative-time.tsx";
import { instanceIsolationQuery } from "./instance.queries.ts";
import { InstanceStorage } from "./instance-storage.tsx";
import { protectionWords } from "./protections.ts";

/** Which protections isolate servers on the host that runs them, and which exceptions its operator made. */
export function InstancePage({ orgSlug }: { readonly orgSlug: string }) {
  const { data } = useSuspenseQuery(instanceIsolationQuery(orgSlug));
  return (
    <main className="mx-auto w-full max-w-4xl px-4 py-6 sm:px-6">
      <PageHeader
        title="Instance"
        description="How servers and builds are isolated on the host that runs them, and how full its disk is. Towpath tests each protection from the inside when it starts."
      />
      {data.reportedAt === null ? (
        <Card>
          <EmptyState icon={<ShieldQuestion aria-hidden />} title="Not known yet">
            The runner of this instance has not reported yet. If this doesn't change within a minute, look in its log.
          </EmptyState>
        </Card>
      ) : (
        <Report view={data} reportedAt={data.reportedAt} />
      )}
      <InstanceStorage orgSlug={orgSlug} />
    </main>
  );
}

function Report({ view, reportedAt }: { readonly view: HostIsolationView; readonly reportedAt: string }) {
  return (
    <div className="space-y-4">
      {view.current ? null : (
        <Callout tone="warn" title={<UnknownSince time={reportedAt} />}>
          The runner no longer reports. This is what it said last.
        </Callout>
      )}
      {view.problems.map((problem) => (
        <Callout
          key={problem}
          tone="bad"
          title={view.trusted ? "Servers that need the network are refused" : "Servers and builds are refused"}
        >
          {problem}
        </Callout>
      ))}
      <Card>
        <CardHeader
          title="Protections"
          description={
            <>
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

const UnknownSince = ({ time }: { readonly time: string }) => (
  <>
    Unknown since <RelativeTime time={time} />
  </>
);

const badges = {
  on: <Badge tone="ok">In force</Badge>,
  off: <Badge tone="bad">Missing</Badge>,
  untried: <Badge>Not tried</Badge>,
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
      <CardHeader
        title="Exceptions"
        description="Settings with which the operator allows what Towpath refuses by default."
      />
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
