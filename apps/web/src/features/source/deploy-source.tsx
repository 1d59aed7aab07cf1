import { defaultAuthMode } from "@towpath/core/project/schema";
import type { GitCredentialInput } from "@towpath/core/source/schema";
import { useState } from "react";
import { AddForm } from "~/features/onboarding/add-page.tsx";
import { useServerName } from "~/features/onboarding/server-name-field.tsx";
import { useDeployForm } from "~/features/onboarding/use-deploy-form.ts";
import { useKeptInUrl } from "~/features/onboarding/use-kept-in-url.ts";
import { useVariables } from "~/features/onboarding/use-variables.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { NewServerFields } from "./new-server-fields.tsx";
import type { Keep, NewServerSearch } from "./new-server-search.ts";
import { deployGitUrl } from "./source.functions.ts";
import type { FoundSource } from "./use-source-look.ts";

type Props = {
  readonly orgSlug: string;
  readonly found: FoundSource;
  /** The branch that somebody chose; null: what the link names, else the repository's own, which is followed. */
  readonly branch: string | null;
  readonly credential: GitCredentialInput | null;
  /** What the address had for this repository. */
  readonly search: NewServerSearch;
  readonly onKeep: Keep;
  readonly urlTemplate: string;
};

/** The form that deploys what was found (SRC-2). */
export function DeploySource({ orgSlug, found, search, onKeep, urlTemplate, ...source }: Props) {
  const choice = useServerName(orgSlug, search.serverName ?? found.serverName);
  const variables = useVariables(search.envVariables ?? []);
  const [previews, setPreviews] = useState(search.previews ?? false);
  const form = useDeployForm(orgSlug, deployTo({ found, previews, ...source }), variables, {
    entrypoint: search.entrypoint ?? "",
    arguments: search.arguments ?? "",
    requirements: search.requirements ?? "",
    rootDirectory: search.rootDirectory ?? directoryOf(found),
    authMode: search.authMode ?? defaultAuthMode,
  });
  const { values } = form.fields;
  const names = variables.rows.map(({ keyName }) => keyName).filter((name) => name !== "");
  useKeptInUrl(
    {
      serverName: choice.name,
      entrypoint: values.entrypoint || undefined,
      arguments: values.arguments || undefined,
      requirements: values.requirements || undefined,
      rootDirectory: values.rootDirectory || undefined,
      envVariables: names.length > 0 ? names : undefined,
      authMode: values.authMode,
      previews: previews || undefined,
    },
    onKeep,
  );
  return (
    <AddForm
      title="Deploy this repository"
      action={{ label: "Deploy", busy: "Creating the server" }}
      busy={form.busy}
      failure={{ title: "The server was not created", text: form.failure }}
      onSubmit={() => {
        if (choice.problem === null) void form.submit(choice.name);
      }}
    >
      <NewServerFields {...{ choice, urlTemplate, form, variables, found }} />
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
    // The repository's own branch is followed when it changes, unless somebody named one.
    const named = branch ?? (found.branch === found.defaultBranch ? null : found.branch);
    return deployGitUrl({ data: { ...server, gitUrl: found.url, branch: named, previews, credential } });
  };

/** The folder of a link, or the only one in which there is something to start. */
function directoryOf({ directory, entrypoints, projects }: FoundSource): string {
  if (directory !== null) return directory;
  const [only, ...others] = entrypoints.length === 0 ? projects : [];
  return only && others.length === 0 ? only.directory : "";
}
