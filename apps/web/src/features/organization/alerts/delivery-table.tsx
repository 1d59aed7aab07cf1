import type { DeliveryView } from "@towpath/core/operations/alert";
import { Badge } from "~/ui/badge.tsx";
import { type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { resultText } from "./delivery-text.ts";

/** The newest messages, with the last answer of each. */
export function DeliveryTable({ deliveries }: { readonly deliveries: readonly DeliveryView[] }) {
  const columns: readonly Column<DeliveryView>[] = [
    leadColumn("Message", ({ title }) => title, { cell: (delivery) => <Title delivery={delivery} /> }),
    {
      name: "Channel",
      by: ({ channel }) => channel.name,
      cell: ({ channel }) => channel.name,
      className: "text-muted",
    },
    { name: "Result", by: ({ status }) => status, cell: (delivery) => <Result delivery={delivery} />, wide: true },
    timeColumn("When", ({ createdAt }) => createdAt),
  ];
  return <DataTable label="Recent deliveries" rows={deliveries} keyOf={({ id }) => id} columns={columns} />;
}

/** Leads to the cause. */
function Title({ delivery: { title, url } }: { readonly delivery: DeliveryView }) {
  if (url === null) return <span className="font-medium">{title}</span>;
  return (
    <a href={new URL(url).pathname} className="font-medium break-words hover:underline">
      {title}
    </a>
  );
}

const looks = {
  sent: ["ok", "Sent"],
  failed: ["bad", "Failed"],
  waiting: ["warn", "Waiting"],
  held: ["neutral", "Held"],
  digested: ["ok", "In a digest"],
} as const;

function Result({ delivery }: { readonly delivery: DeliveryView }) {
  const [tone, label] = looks[delivery.status];
  const isRetried = delivery.status === "waiting" && delivery.attempts > 0;
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      <span className="block text-xs break-words text-muted">
        {resultText(delivery)}
        {isRetried ? (
          <>
            {" "}
            Next attempt: <RelativeTime time={delivery.dueAt} />.
          </>
        ) : null}
      </span>
    </>
  );
}
