import { useServerName } from "./server-name-field.tsx";
import { useDeployForm } from "./use-deploy-form.ts";
import { useKeptInUrl } from "./use-kept-in-url.ts";
import { useVariables } from "./use-variables.ts";

type DeployForm = Parameters<typeof useDeployForm>;
type AuthMode = DeployForm[3]["authMode"];

/** Fields of the form in the URL. Only names of variables: a URL must not contain secrets. */
type KeptFields = {
  readonly serverName?: string | undefined;
  readonly entrypoint?: string | undefined;
  readonly arguments?: string | undefined;
  readonly requirements?: string | undefined;
  readonly rootDirectory?: string | undefined;
  readonly envVariables?: readonly string[] | undefined;
};

type ServerForm<More> = {
  readonly orgSlug: string;
  /** Values from the URL, or proposals. `serverName` must have one. */
  readonly initial: KeptFields & { readonly serverName: string; readonly authMode: AuthMode };
  readonly deploy: DeployForm[1];
  /** Further parameters of the URL. */
  readonly more: (authMode: AuthMode) => More;
  readonly onKeep: (fields: KeptFields & More) => void;
};

/** The form that deploys a server from a repository: its name, build settings and variables, kept in the URL. */
export function useServerForm<More extends object>({ orgSlug, initial, deploy, more, onKeep }: ServerForm<More>) {
  const choice = useServerName(orgSlug, initial.serverName);
  const variables = useVariables(initial.envVariables ?? []);
  const form = useDeployForm(orgSlug, deploy, variables, {
    entrypoint: initial.entrypoint ?? "",
    arguments: initial.arguments ?? "",
    requirements: initial.requirements ?? "",
    rootDirectory: initial.rootDirectory ?? "",
    authMode: initial.authMode,
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
      ...more(values.authMode),
    },
    onKeep,
  );
  return { choice, variables, form };
}
