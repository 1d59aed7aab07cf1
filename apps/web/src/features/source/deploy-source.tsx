import type { GitCredentialInput } from "@towpath/core/source/schema";
import { type ReactNode, useState } from "react";
import { AddForm } from "~/features/onboarding/add-page.tsx";
import { AuthModeChoice, BuildFields } from "~/features/onboarding/build-fields.tsx";
import { ServerNameField } from "~/features/onboarding/server-name-field.tsx";
import type { useDeployForm } from "~/features/onboarding/use-deploy-form.ts";
import { offersWithin } from "~/features/onboarding/use-file-checks.ts";
import { useServerForm } from "~/features/onboarding/use-server-form.ts";
import { EnvironmentVariables } from "~/features/onboarding/variable-fields.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
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
  const [previews, setPreviews] = useState(search.previews ?? false);
  const { choice, variables, form } = useServerForm({
    orgSlug,
    initial: {
      ...search,
      serverName: search.serverName ?? found.serverName,
      rootDirectory: search.rootDirectory ?? directoryOf(found),
      authMode: search.authMode ?? "towpath-cloud",
    },
    deploy: deployTo({ found, previews, ...source }),
    more: (authMode) => ({ authMode, previews: previews || undefined }),
    onKeep,
  });
  const { values } = form.fields;
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
      <ServerNameField choice={choice} urlTemplate={urlTemplate} error={form.fields.refused.name ?? null} />
      <BuildSettings
        isToChoose={mustChoose(found, values.rootDirectory)}
        hasProblem={buildFields.some((field) => form.fields.problem(field) !== null)}
      >
        <BuildFields fields={form.fields} {...offersWithin(values.rootDirectory, found)} />
      </BuildSettings>
      <EnvironmentVariables variables={variables} offered={found.variables} />
      <AuthModeChoice value={values.authMode} onChange={(authMode) => form.fields.change({ authMode })} />
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

/** Whether the build can't know which of several projects is meant. */
const mustChoose = ({ entrypoints, projects }: FoundSource, rootDirectory: string): boolean =>
  rootDirectory === "" && entrypoints.length === 0 && projects.length > 1;

const buildFields = ["entrypoint", "arguments", "requirements", "rootDirectory"] as const;

/** Folded: a build finds these by itself. */
function BuildSettings({
  isToChoose,
  hasProblem,
  children,
}: {
  readonly isToChoose: boolean;
  readonly hasProblem: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(isToChoose);
  const isShown = isOpen || hasProblem;
  return (
    <details
      open={isShown}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-lg border bg-surface"
    >
      <summary className="cursor-pointer rounded-lg px-4 py-2.5 text-sm font-medium">
        Build settings
        <span className="ml-2 font-normal text-muted">
          {isToChoose ? "Choose the root directory of the server" : "Entrypoint, arguments, files"}
        </span>
      </summary>
      <div className="flex flex-col gap-6 border-t px-4 py-4">{children}</div>
    </details>
  );
}
