import { defaultAuthMode } from "@towpath/core/projects/project/schema";
import type { GitCredentialInput } from "@towpath/core/sources/source/schema";
import { useState } from "react";
import { AddForm } from "~/features/onboarding/server-form/add-page.tsx";
import type { useDeployForm } from "~/features/onboarding/server-form/use-deploy-form.ts";
import { rootProblem } from "~/features/onboarding/server-form/use-file-checks.ts";
import { useServerForm } from "~/features/onboarding/server-form/use-server-form.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { NewServerFields } from "./new-server-fields.tsx";
import type { Keep, NewServerSearch } from "./new-server-search.ts";
import { deployGitUrl } from "./source.functions.ts";
import type { FoundSource } from "./use-source-look.ts";

type Props = {
  readonly orgSlug: string;
  readonly found: FoundSource;
  /** The chosen branch; null: the link's, else the repository's default branch, which is followed. */
  readonly branch: string | null;
  readonly credential: GitCredentialInput | null;
  /** The address's parameters for this repository. */
  readonly search: NewServerSearch;
  readonly onKeep: Keep;
  readonly urlTemplate: string;
};

/** The form that deploys a found source (SRC-2). */
export function DeploySource({ orgSlug, found, search, onKeep, urlTemplate, ...source }: Props) {
  const [previews, setPreviews] = useState(search.previews ?? false);
  const { choice, variables, form } = useServerForm({
    orgSlug,
    initial: {
      ...search,
      serverName: search.serverName ?? found.serverName,
      rootDirectory: search.rootDirectory ?? directoryOf(found),
      authMode: search.authMode ?? defaultAuthMode,
    },
    deploy: deployTo({ found, previews, ...source }),
    more: (authMode) => ({ authMode, previews: previews || undefined }),
    onKeep,
  });
  return (
    <AddForm
      title="Deploy this repository"
      action={{ label: "Deploy", busy: "Creating the server" }}
      busy={form.busy}
      failure={{ title: "The server was not created", text: form.failure }}
      onSubmit={() => {
        const problem = rootProblem(found, form.fields.values);
        if (problem !== null) form.fields.setRefused({ rootDirectory: problem });
        else if (choice.problem === null) void form.submit(choice.name);
      }}
    >
      <NewServerFields choice={choice} urlTemplate={urlTemplate} form={form} variables={variables} found={found} />
      <Checkbox checked={previews} onChange={setPreviews} disabled={form.busy}>
        <span className="font-medium">Previews of other branches</span>
        <span className="block text-xs text-muted">
          A push to another branch gets a server of its own. Pushes to <code>{found.branch}</code> go live.
        </span>
      </Checkbox>
    </AddForm>
  );
}

const deployTo =
  ({
    found,
    branch,
    previews,
    credential,
  }: Pick<Props, "found" | "branch" | "credential"> & { readonly previews: boolean }): Parameters<
    typeof useDeployForm
  >[1] =>
  (server) => {
    // Changes of the repository's default branch are followed, unless a branch was chosen.
    const named = branch ?? (found.branch === found.defaultBranch ? null : found.branch);
    return deployGitUrl({ data: { ...server, gitUrl: found.url, branch: named, previews, credential } });
  };

/** The folder of a link, or the only folder with a server. */
function directoryOf({ directory, entrypoints, projects }: FoundSource): string {
  if (directory !== null) return directory;
  const [only, ...others] = entrypoints.length === 0 ? projects : [];
  return only && others.length === 0 ? only.directory : "";
}
