import { defaultAuthMode, serverNameFrom } from "@towpath/core/projects/project/schema";
import { AddForm } from "~/features/onboarding/server-form/add-page.tsx";
import { useServerName } from "~/features/onboarding/server-form/server-name-field.tsx";
import { useDeployForm } from "~/features/onboarding/server-form/use-deploy-form.ts";
import { useVariables } from "~/features/onboarding/server-form/use-variables.ts";
import type { Picked } from "~/features/onboarding/upload/picked.ts";
import { PickedSummary } from "~/features/onboarding/upload/picked-summary.tsx";
import { showLeftOut } from "~/features/onboarding/upload/show-left-out.ts";
import { UploadProgress } from "~/features/onboarding/upload/upload-progress.tsx";
import { useUpload } from "~/features/onboarding/upload/use-upload.ts";
import { NewServerFields } from "./new-server-fields.tsx";

type UploadedServer = {
  readonly projectName: string;
  readonly buildId: string | null;
  readonly leftOut: readonly string[];
};

/** The build looks into the files; nothing is read here. */
const nothingFound = { entrypoints: [], projects: [], requirementFiles: [], variables: [] };

type UploadFormProps = {
  readonly orgSlug: string;
  readonly picked: Picked;
  /** A free name, for a folder whose name can't be a server's. */
  readonly otherName: string;
  readonly urlTemplate: string;
  /** Picks other files. */
  readonly onChange: () => void;
};

/** The form that deploys picked files (SRC-3, SRC-4). */
export function UploadForm({ orgSlug, picked, otherName, urlTemplate, onChange }: UploadFormProps) {
  const choice = useServerName(orgSlug, nameOf(picked) ?? otherName);
  const variables = useVariables([]);
  const { upload, progress, cancel } = useUpload();
  const form = useDeployForm(
    orgSlug,
    async ({ orgSlug: _orgSlug, ...server }) => {
      const answer = await upload(`/api/organizations/${orgSlug}/uploads`, picked, `${JSON.stringify(server)}\n`);
      const { leftOut, ...made } = answer as UploadedServer;
      showLeftOut(leftOut);
      return made;
    },
    variables,
    { entrypoint: "", arguments: "", requirements: "", rootDirectory: "", authMode: defaultAuthMode },
  );
  return (
    <AddForm
      title="Deploy these files"
      action={{ label: "Deploy", busy: "Creating the server" }}
      busy={form.busy}
      failure={{ title: "The server was not created", text: form.failure }}
      progress={progress ? <UploadProgress progress={progress} onCancel={cancel} /> : null}
      onSubmit={() => {
        if (choice.problem === null) void form.submit(choice.name);
      }}
    >
      <PickedSummary picked={picked} onChange={onChange} disabled={form.busy} />
      <NewServerFields
        choice={choice}
        urlTemplate={urlTemplate}
        form={form}
        variables={variables}
        found={nothingFound}
      />
    </AddForm>
  );
}

/** If need be with an ending: a server's name has six characters. */
const nameOf = ({ name }: Picked): string | null => serverNameFrom(name) ?? serverNameFrom(`${name}-server`);
