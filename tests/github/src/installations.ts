import type { ForgeContext } from "./forge.context.ts";
import type { Account } from "./state/accounts.ts";
import {
  deleteInstallation,
  type Installation,
  insertInstallation,
  installationOfAccount,
  repositoriesOfInstallation,
} from "./state/installations.ts";
import { enqueueInstallationEvent } from "./webhooks/enqueue.ts";

/** Installs the App on the account, for all its repositories, and sends `installation`. Does nothing where it is. */
export function install(context: ForgeContext, account: Account): { installation: Installation; isNew: boolean } {
  const { database } = context;
  const before = installationOfAccount(database, account.id);
  if (before) return { installation: before, isNew: false };
  const installation = database.transaction(() => {
    const added = insertInstallation(database, account.id);
    const repositories = repositoriesOfInstallation(database, added);
    enqueueInstallationEvent(context, { installation: added, action: "created", repositories });
    return added;
  });
  context.deliverer.wake();
  return { installation, isNew: true };
}

export function uninstall(context: ForgeContext, installation: Installation): void {
  const { database } = context;
  database.transaction(() => {
    const repositories = repositoriesOfInstallation(database, installation);
    enqueueInstallationEvent(context, { installation, action: "deleted", repositories });
    deleteInstallation(database, installation.id);
  });
  context.deliverer.wake();
}
