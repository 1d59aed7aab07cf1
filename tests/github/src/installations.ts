import type { ForgeContext } from "./forge.context.ts";
import type { Account } from "./state/accounts.ts";
import {
  addToInstallation,
  coversRepository,
  deleteInstallation,
  type Installation,
  type InstallationChoice,
  installationOfAccount,
  repositoriesOfInstallation,
  saveInstallation,
} from "./state/installations.ts";
import type { Repository } from "./state/repositories.ts";
import { enqueueInstallationEvent } from "./webhooks/enqueue.ts";

const without = (list: readonly Repository[], taken: readonly Repository[]) =>
  list.filter(({ id }) => !taken.some((other) => other.id === id));

/**
 * Installs the App on the account, or changes its repositories. Sends `installation` or `installation_repositories`.
 */
export function install(
  context: ForgeContext,
  account: Account,
  choice: InstallationChoice,
): { installation: Installation; isNew: boolean } {
  const { database } = context;
  const result = database.transaction(() => {
    const before = installationOfAccount(database, account.id);
    const had = before ? repositoriesOfInstallation(database, before) : [];
    const installation = saveInstallation(database, account.id, choice);
    const has = repositoriesOfInstallation(database, installation);
    if (before === null) {
      enqueueInstallationEvent(context, { installation, name: "installation", action: "created", repositories: has });
      return { installation, isNew: true };
    }
    const name = "installation_repositories";
    const added = without(has, had);
    const removed = without(had, has);
    if (added.length > 0)
      enqueueInstallationEvent(context, { installation, name, action: "added", repositories: added });
    if (removed.length > 0)
      enqueueInstallationEvent(context, { installation, name, action: "removed", repositories: removed });
    return { installation, isNew: false };
  });
  context.deliverer.wake();
  return result;
}

/** Makes sure that the App covers the repository: adds it to an installation on selected repositories that lacks it. */
export function includeRepository(context: ForgeContext, repository: Repository): void {
  const { database } = context;
  database.transaction(() => {
    const installation = installationOfAccount(database, repository.owner_id);
    if (installation === null || coversRepository(database, installation, repository)) return;
    addToInstallation(database, installation, repository.id);
    const event = { name: "installation_repositories", action: "added", repositories: [repository] } as const;
    enqueueInstallationEvent(context, { installation, ...event });
  });
  context.deliverer.wake();
}

export function uninstall(context: ForgeContext, installation: Installation): void {
  const { database } = context;
  database.transaction(() => {
    const repositories = repositoriesOfInstallation(database, installation);
    enqueueInstallationEvent(context, { installation, name: "installation", action: "deleted", repositories });
    deleteInstallation(database, installation.id);
  });
  context.deliverer.wake();
}
