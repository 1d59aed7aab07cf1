import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { argumentsTextProblem, splitArguments } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import { AddPage, NameAndAccess, type NameProposal, useAdded } from "~/features/onboarding/server-form/add-page.tsx";
import { BuildField } from "~/features/onboarding/server-form/build-fields.tsx";
import { useVariables } from "~/features/onboarding/server-form/use-variables.ts";
import { EnvironmentVariables } from "~/features/onboarding/server-form/variable-fields.tsx";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { deployPackage } from "./package.functions.ts";
import { PackageFields } from "./package-fields.tsx";
import type { PackageSearch } from "./package-search.ts";
import { usePackage } from "./use-package.ts";

type DeployPackagePageProps = {
  readonly orgSlug: string;
  readonly proposal: NameProposal;
  readonly search: PackageSearch;
};

/** Deploys a package of the index as it is (BLD-17). */
export function DeployPackagePage({ orgSlug, proposal, search }: DeployPackagePageProps) {
  const added = useAdded(orgSlug, proposal);
  const chosen = usePackage(orgSlug, { name: search.name ?? "", version: search.version ?? "" });
  const variables = useVariables(search.envVariables ?? []);
  const [argv, setArgv] = useState(search.arguments ?? "");
  const [follow, setFollow] = useState(false);
  const { problems, failure, busy, submit } = useDeployPackage(orgSlug);
  const { choice, authMode } = added;
  return (
    <AddPage
      orgSlug={orgSlug}
      parent={{ to: "/$orgSlug/servers", label: "Servers" }}
      crumb="Deploy a package"
      title="Deploy a package"
      description="For a published server, such as mcp-server-time. Towpath installs that version, starts it and serves it; nothing else is needed."
      action={{ label: "Deploy", busy: "Creating the server" }}
      busy={busy}
      failure={{ title: "The server was not created", text: failure }}
      onSubmit={() => {
        variables.showAllProblems();
        const split = splitArguments(argv);
        const areValid = variables.isValid && split !== null && Object.values(chosen.problems).every((each) => !each);
        if (choice.problem !== null || !areValid) return;
        void submit({
          name: choice.name,
          packageName: chosen.name,
          version: chosen.version.trim() || null,
          follow,
          authMode,
          arguments: [...split],
          secrets: [...variables.filled],
        });
      }}
    >
      <p className="-mt-3 text-sm text-muted">
        Don't know its name?{" "}
        <Link
          to="/$orgSlug/servers/registry"
          params={{ orgSlug }}
          className={buttonLook({ variant: "link", size: "inline" })}
        >
          Find a server in a registry
        </Link>
      </p>
      <PackageFields chosen={chosen} refused={problems} disabled={busy} />
      <BuildField
        label="Arguments"
        optional
        hint="As after its name on a command line. Not for secrets: arguments are shown and logged."
        error={problems.arguments ?? argumentsTextProblem(argv)}
        value={argv}
        onChange={setArgv}
      />
      <EnvironmentVariables variables={variables} />
      <Checkbox checked={follow} onChange={setFollow} disabled={busy}>
        <span className="font-medium">Deploy new versions</span>
        <span className="block text-xs text-muted">
          Towpath looks every hour. A version that doesn't start never replaces the one that's live.
        </span>
      </Checkbox>
      <NameAndAccess added={added} problem={problems.name} />
    </AddPage>
  );
}

type NewPackage = Omit<Parameters<typeof deployPackage>[0]["data"], "orgSlug">;

function useDeployPackage(orgSlug: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const form = useSubmit();
  const submit = (data: NewPackage) =>
    form.run(async () => {
      const { projectName, buildId } = await deployPackage({ data: { ...data, orgSlug } });
      await queryClient.invalidateQueries({ queryKey: ["servers", orgSlug] });
      await queryClient.invalidateQueries(profileQuery);
      await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { orgSlug, projectName, buildId } });
    });
  return { ...form, submit };
}
