import type { SavedView } from "@towpath/core/operations/saved-view";
import { Search } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { viewPages } from "~/features/shared/saved-views/view-lists.ts";
import type { ScreenGroup } from "~/features/shell/navigation/navigation.tsx";
import type { SearchAction } from "~/ui/search-list.tsx";

/** The screen of each list, as people know it. */
const listNames: Readonly<Record<SavedView["list"], string>> = {
  requests: "Calls",
  sessions: "Sessions",
  users: "Users",
  errors: "Errors",
  output: "Server output",
  "sign-ins": "Sign-ins",
  deployments: "Deployments",
  surface: "Surface",
  servers: "Servers",
  audit: "Audit log",
};

/** Entries of saved views. `params`: of the pages of their lists. */
export const viewsOf = (
  params: ProjectKey,
  views: readonly SavedView[],
  actions: { readonly follow: (link: ScreenGroup["items"][number]["link"]) => void },
): SearchAction[] =>
  views.map(({ id, name, list, search }) => ({
    id: `view-${id}`,
    label: name,
    keywords: ["view", listNames[list]],
    icon: <Search />,
    detail: listNames[list],
    run: () => actions.follow({ to: viewPages[list], params, search }),
  }));
