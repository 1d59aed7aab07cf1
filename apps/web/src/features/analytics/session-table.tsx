import { Link } from "@tanstack/react-router";
import { formatCount } from "~/ui/figure.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration, RelativeTime } from "~/ui/time.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import type { NamedSession } from "./analytics.functions.ts";
import { clientText, PrincipalLabel } from "./principal-label.tsx";

/** Milliseconds from first to last call. */
export const lengthOf = (session: { readonly firstSeen: string; readonly lastSeen: string }): number =>
  Date.parse(session.lastSeen) - Date.parse(session.firstSeen);

/** Sessions, most recently active first. */
export function SessionTable({
  projectKey,
  sessions,
  withPrincipal,
}: {
  projectKey: ProjectKey;
  sessions: readonly NamedSession[];
  /** Shows whose session each is; off where all are of one user. */
  withPrincipal: boolean;
}) {
  return (
    <Table label="Sessions">
      <TableHead>
        <Th className="w-1/4">Client</Th>
        {withPrincipal && <Th className="w-1/4">User</Th>}
        <Th>Protocol</Th>
        <Th className="text-right">Calls</Th>
        <Th className="text-right">Errors</Th>
        <Th className="text-right">Length</Th>
        <Th className="text-right">Last call</Th>
      </TableHead>
      <TableBody>
        {sessions.map((session) => (
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
              <span className={session.errors > 0 ? "text-bad" : "text-muted"}>{formatCount(session.errors)}</span>
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
