import { useQueryClient } from "@tanstack/react-query";
import type { DomainRecordView, DomainView } from "@towpath/core/projects/domain";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { checkDomain, domainsQuery, removeDomain } from "./domains.functions.ts";

type OneDomain = { readonly projectKey: ProjectKey; readonly domain: DomainView };

/** A domain with its DNS records. */
export function DomainCard({ projectKey, domain }: OneDomain) {
  const { domain: name, url, activeAt, records, checkedAt } = domain;
  return (
    <div className="rounded-md border">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b px-3 py-2">
        <code className="min-w-0 flex-1 basis-48 break-all text-sm">{activeAt === null ? name : url}</code>
        {activeAt === null ? null : <CopyButton text={url} label={`Copy the address at ${name}`} />}
        <Badge tone={activeAt === null ? "warn" : "ok"}>{activeAt === null ? "Waiting for DNS" : "Active"}</Badge>
        <DomainActions projectKey={projectKey} domain={domain} />
      </div>
      <ul aria-label={`DNS records of ${name}`} className="divide-y">
        {records.map((record) => (
          <li key={record.type} className="px-3 py-2.5">
            <DnsRecord record={record} />
          </li>
        ))}
      </ul>
      <p className="border-t px-3 py-2 text-xs text-muted">
        {checkedAt === null ? "Not looked up yet." : <Checked at={checkedAt} />}{" "}
        {activeAt === null
          ? "Where no CNAME is allowed, as for a whole domain, make A and AAAA records with the same addresses."
          : "Keep the TXT record: the domain ends a week after it is gone."}
      </p>
    </div>
  );
}

const Checked = ({ at }: { readonly at: string }) => (
  <>
    Looked up <RelativeTime time={at} />.
  </>
);

function DomainActions({ projectKey, domain: { domain, activeAt } }: OneDomain) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const check = async () => {
    setBusy(true);
    try {
      await checkDomain({ data: { ...projectKey, domain } });
      await queryClient.invalidateQueries(domainsQuery(projectKey));
    } catch (error) {
      toast.error(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  const ask = () =>
    setQuestion({
      title: `Remove ${domain}?`,
      description:
        activeAt === null
          ? "Its records are no longer looked up."
          : "Clients that use this address stop working at once.",
      action: "Remove domain",
      danger: true,
      run: async () => {
        await removeDomain({ data: { ...projectKey, domain } });
        await queryClient.invalidateQueries(domainsQuery(projectKey));
      },
    });
  return (
    <>
      <Button
        size="sm"
        icon={<RefreshCw />}
        busy={busy}
        aria-label={`Check now: ${domain}`}
        onClick={() => void check()}
      >
        Check now
      </Button>
      <Button size="sm" variant="danger-quiet" aria-label={`Remove ${domain}`} onClick={ask}>
        Remove
      </Button>
      <Ask question={question} onClose={() => setQuestion(null)} />
    </>
  );
}

function DnsRecord({ record }: { readonly record: DomainRecordView }) {
  const { type, name, value, seenAt, problem } = record;
  return (
    <div className="flex flex-col gap-1 text-sm">
      <dl>
        <RecordPart title="Type">{type}</RecordPart>
        <RecordPart title="Name" copied={`name of the ${type} record`}>
          {name}
        </RecordPart>
        <RecordPart title="Value" copied={`value of the ${type} record`}>
          {value}
        </RecordPart>
      </dl>
      <p className={problem === null ? "text-xs text-muted" : "text-xs text-warn"}>
        {seenAt === null ? null : (
          <>
            Seen <RelativeTime time={seenAt} />.{" "}
          </>
        )}
        {problem}
      </p>
    </div>
  );
}

type RecordPartProps = {
  readonly title: string;
  /** What the button copies; without it there is none. */
  readonly copied?: string;
  readonly children: string;
};

function RecordPart({ title, copied, children }: RecordPartProps) {
  return (
    <div className="flex min-h-7 items-center gap-3">
      <dt className="w-12 shrink-0 text-muted">{title}</dt>
      <dd className="flex min-w-0 flex-1 items-center gap-2">
        <code className="min-w-0 break-all">{children}</code>
        {copied === undefined ? null : <CopyButton text={children} label={`Copy the ${copied}`} />}
      </dd>
    </div>
  );
}
