import { roleMatrix } from "@towpath/core/authorize/schema";
import { roleNames, roleSummaries } from "@towpath/core/tenancy/member/schema";
import { Check, Minus } from "lucide-react";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";

/** The roles, their purposes, and the matrix of permissions, as in docs/roles.md. */
export function RoleMatrix() {
  return (
    <>
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 text-sm sm:grid-cols-2">
        {roleNames.map((role) => (
          <div key={role} className="flex gap-2">
            <dt className="w-16 shrink-0 font-medium capitalize">{role}</dt>
            <dd className="text-muted">{roleSummaries[role]}.</dd>
          </div>
        ))}
      </dl>
      <details className="group border-t">
        <summary className="cursor-pointer px-4 py-2.5 text-sm font-medium text-muted select-none hover:text-ink">
          All permissions
        </summary>
        <div className="border-t" />
        <Table label="What each role can do">
          <TableHead>
            <Th>May</Th>
            {roleNames.map((role) => (
              <Th key={role} className="text-center capitalize">
                {role}
              </Th>
            ))}
          </TableHead>
          <TableBody>
            {roleMatrix.map(({ permission, text, roles }) => (
              <Tr key={permission} className="max-sm:grid-cols-4">
                <Td className="max-sm:col-span-4">{text}</Td>
                {roleNames.map((role) => (
                  <Td key={role} label={role} className="text-center max-sm:text-left">
                    {roles.includes(role) ? (
                      <Check role="img" aria-label="Yes" className="inline size-4 text-ok" />
                    ) : (
                      <Minus role="img" aria-label="No" className="inline size-4 text-faint" />
                    )}
                  </Td>
                ))}
              </Tr>
            ))}
          </TableBody>
        </Table>
      </details>
    </>
  );
}
