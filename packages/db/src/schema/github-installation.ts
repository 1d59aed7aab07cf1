import { bigint, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** A GitHub App installation: which account lets Towpath read which repositories, for which organization. */
export const githubInstallation = pgTable(
  "github_installation",
  {
    /** Towpath's number of the installation, which names its connection too (decision 054). */
    installationId: bigint({ mode: "number" }).notNull(),
    organizationId: ownedBy(() => organization.id),
    accountLogin: text().notNull(),
    /** User | Organization, as GitHub says it. */
    accountType: text().notNull(),
    /** When the account's owner suspended the App, which then can't read anything. */
    suspendedAt: instant(),
    installedByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.organizationId, table.installationId),
    index().on(table.installationId),
    index().on(table.installedByUserId),
  ],
);

export const githubInstallationRetention: RetentionRule = { until: "deleted" };
