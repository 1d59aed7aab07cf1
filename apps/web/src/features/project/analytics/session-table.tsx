import { Link } from "@tanstack/react-router";
import { clientText, PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration, RelativeTime } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";
import type { NamedSession } from "./analytics.functions.ts";

/** Milliseconds from first to last call. */
export const lengthOf = (session: { readonly firstSeen: string; readonly lastSeen: string }): number =>
  Date.parse(session.lastSeen) - Date.parse(session.firstSeen);

const sortedBy = {
  Client: (session: NamedSession) => clientText(session),
  User: ({ principal }: NamedSession) => principal.name,
  Protocol: ({ protocolVersion }: NamedSession) => protocolVersion,
  Calls: ({ calls }: NamedSession) => calls,
  Errors: ({ errors }: NamedSession) => errors,
  Length: lengthOf,
  "Last call": ({ lastSeen }: NamedSession) => lastSeen,
};

/** Sessions, most recently active first. */
export function SessionTable({
  projectKey,
  sessions,
  withPrincipal,
  isWhole,
}: {
  projectKey: ProjectKey;
  sessions: readonly NamedSession[];
  /** Shows each session's caller; off in the list of one user. */
  withPrincipal: boolean;
  /** Whether all sessions are loaded. */
  isWhole: boolean;
}) {
  const { rows, sort } = useSorted(sessions, sortedBy, isWhole);
  return (
    <Table label="Sessions">
      <TableHead>
        <Th className="w-1/4" sort={sort("Client")}>
          Client
        </Th>
        {withPrincipal && (
          <Th className="w-1/4" sort={sort("User")}>
            User
          </Th>
        )}
        <Th sort={sort("Protocol")}>Protocol</Th>
        <Th className="text-right" sort={sort("Calls")}>
          Calls
        </Th>
        <Th className="text-right" sort={sort("Errors")}>
          Errors
        </Th>
        <Th className="text-right" sort={sort("Length")}>
          Length
        </Th>
        <Th className="text-right" sort={sort("Last call")}>
          Last call
        </Th>
      </TableHead>
      <TableBody>
        {rows.map((session) => (
          <Tr key={session.id} className="relative">
            <Td wide className="max-w-0 max-sm:max-w-none">
              <Link
                to="/$orgSlug/$projectName/sessions/$sessionId"
                params={{ ...projectKey, sessionId: session.id }}
                className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
              >
                {clientText(session)}
              </Link>
            </Td>
            {withPrincipal && (
              <Td wide label="User" className="max-w-0 max-sm:max-w-none">
                <PrincipalLabel principal={session.principal} />
              </Td>
            )}
            <Td label="Protocol" className="tabular whitespace-nowrap text-muted">
              {session.protocolVersion ?? "–"}
            </Td>
            <Td label="Calls" className="tabular sm:text-right">
              {formatCount(session.calls)}
            </Td>
            <Td label="Errors" className="tabular sm:text-right">
              <ErrorCount {...session} />
            </Td>
            <Td label="Length" className="tabular whitespace-nowrap text-muted sm:text-right">
              {formatDuration(lengthOf(session))}
            </Td>
            <Td label="Last call" className="whitespace-nowrap text-muted sm:text-right">
              <RelativeTime time={session.lastSeen} />
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}
