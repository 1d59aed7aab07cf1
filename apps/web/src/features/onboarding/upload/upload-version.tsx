import { useQueryClient } from "@tanstack/react-query";
import type { RepositorySourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { DropZone } from "./drop-zone.tsx";
import type { Picked } from "./picked.ts";
import { PickedSummary } from "./picked-summary.tsx";
import { showLeftOut } from "./show-left-out.ts";
import { UploadProgress } from "./upload-progress.tsx";
import { usePicked } from "./use-picked.ts";
import { isCanceled, useUpload } from "./use-upload.ts";

type Props = { readonly projectKey: ProjectKey; readonly source: RepositorySourceView };

/** Makes a commit on the branch that goes live, from a folder or an archive (SRC-4). */
export function UploadVersion({ projectKey, source }: Props) {
  const { chosen, problem, pick, forget } = usePicked();
  return (
    <div className="flex flex-col gap-3">
      {chosen ? (
        <section aria-label="Upload a new version">
          <UploadCommit picked={chosen} projectKey={projectKey} source={source} forget={forget} />
        </section>
      ) : (
        <DropZone title="Upload a new version" hint="Drop a folder or an archive here." onPicked={pick} />
      )}
      <Failure title="This can't be uploaded">{problem}</Failure>
    </div>
  );
}

function UploadCommit({
  projectKey,
  source: { head, defaultBranch },
  picked,
  forget,
}: Props & { readonly picked: Picked; readonly forget: () => void }) {
  const queryClient = useQueryClient();
  const { upload, progress, cancel } = useUpload();
  const [message, setMessage] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const [base, setBase] = useState(head);
  const isMoved = isTowpathErrorCode(failure, "conflict");
  const send = async () => {
    setFailure(null);
    const { orgSlug, projectName } = projectKey;
    const query = new URLSearchParams({ ...(base !== null && { expectedHead: base }), ...(message && { message }) });
    try {
      const answer = await upload(`/api/projects/${orgSlug}/${projectName}/uploads?${query}`, picked);
      const { changed, leftOut } = answer as { readonly changed: boolean; readonly leftOut: readonly string[] };
      showLeftOut(leftOut);
      toast.success(changed ? "Uploaded. The build starts now." : "Nothing changed: these are the files that it has.");
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      forget();
    } catch (error) {
      if (isCanceled(error)) return;
      setFailure(error);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    }
  };
  return (
    <Form
      aria-label="Upload these files"
      className="flex flex-col gap-3"
      onSubmit={() => {
        if (!progress) void send();
      }}
    >
      <PickedSummary picked={picked} onChange={forget} disabled={progress !== null} isWhole />
      <TextField
        label="What changed"
        optional
        hint={`The files become a commit of ${defaultBranch}, which goes live.`}
        maxLength={1000}
        placeholder="Upload files"
        value={message}
        onChange={setMessage}
      />
      {failure === null ? null : (
        <Callout
          tone="bad"
          title={isMoved ? "Somebody else has changed it meanwhile" : "The files were not uploaded"}
          actions={
            isMoved && head !== base ? (
              <Button
                size="sm"
                onClick={() => {
                  setBase(head);
                  setFailure(null);
                }}
              >
                Replace their version with these files
              </Button>
            ) : null
          }
        >
          {failureText(failure)}
        </Callout>
      )}
      {progress ? (
        <UploadProgress progress={progress} onCancel={cancel} />
      ) : (
        <Button type="submit" variant="primary" className="self-start">
          Upload
        </Button>
      )}
    </Form>
  );
}
