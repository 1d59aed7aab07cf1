import { domainUrl, serverUrl } from "../server-url/index.ts";
import type { DomainRow } from "./domain.store.ts";

/** A DNS record that the owner of a domain makes. */
export type DomainRecordView = {
  readonly type: "TXT" | "CNAME";
  readonly name: string;
  readonly value: string;
  /** When it was last seen; null: not yet. */
  readonly seenAt: string | null;
  /** Why it wasn't seen at the last check, and what to do; null: it was, or nobody has looked yet. */
  readonly problem: string | null;
};

/** A domain of a server or portal. */
export type DomainView = {
  readonly domain: string;
  /** Its MCP endpoint. */
  readonly url: string;
  /** Since when it leads to the server; null: not yet. */
  readonly activeAt: string | null;
  readonly records: readonly DomainRecordView[];
  readonly checkedAt: string | null;
};

/** Where the record with the token is: beside the name, because a name with a CNAME can have no other records. */
export const ownershipName = (name: string) => `_towpath.${name}`;
export const ownershipValue = ({ token }: Pick<DomainRow, "token">) => `towpath=${token}`;

/** The host of a server's ordinary address. */
export const hostOf = (template: string, projectName: string) =>
  new URL(serverUrl(template, projectName.toLowerCase())).hostname;

export function domainView(row: DomainRow, template: string, projectName: string): DomainView {
  return {
    domain: row.name,
    url: `${domainUrl(template, row.name)}/mcp`,
    activeAt: row.activeAt?.toISOString() ?? null,
    records: [
      {
        type: "CNAME",
        name: row.name,
        value: hostOf(template, projectName),
        seenAt: row.addressSeenAt?.toISOString() ?? null,
        problem: row.addressProblem,
      },
      {
        type: "TXT",
        name: ownershipName(row.name),
        value: ownershipValue(row),
        seenAt: row.ownershipSeenAt?.toISOString() ?? null,
        problem: row.ownershipProblem,
      },
    ],
    checkedAt: row.checkedAt?.toISOString() ?? null,
  };
}
