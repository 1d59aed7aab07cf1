import { ImageUp } from "lucide-react";
import { useId, useRef, useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Avatar } from "~/ui/avatar.tsx";
import { Button } from "~/ui/button.tsx";
import { toast } from "~/ui/toast.ts";
import { pictureTypes, scaledPicture } from "./scale-picture.ts";

/** The picture of a person or an organization: chosen, saved at once, removed (ORG-4). */
export function PictureField({
  name,
  picture,
  shape,
  onSave,
}: {
  /** Whose; for the initials that stand in for a picture. */
  readonly name: string;
  readonly picture: string | null;
  readonly shape: "person" | "organization";
  /** Base64, or null to remove it. */
  readonly onSave: (picture: string | null) => Promise<unknown>;
}) {
  const noteId = useId();
  const chooser = useRef<HTMLInputElement>(null);
  const [isRemoving, setRemoving] = useState(false);
  const { problems, busy, run } = useSubmit();
  const problem = problems.picture ?? problems.form;
  const choose = async (file: File | undefined) => {
    if (!file) return;
    setRemoving(false);
    const isSaved = await run(async () => onSave(await scaledPicture(file)));
    if (isSaved) toast.success("Picture saved");
  };
  /** Takes the file out of the input, so that the same one can be chosen again. */
  const takeFile = () => {
    const input = chooser.current;
    const file = input?.files?.[0];
    if (input) input.value = "";
    void choose(file);
  };
  const remove = async () => {
    setRemoving(true);
    if (await run(() => onSave(null))) toast.success("Picture removed");
  };
  return (
    <div className="flex items-center gap-4">
      <Avatar name={name} picture={picture} shape={shape} className="size-16 text-lg" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <div className="flex flex-wrap gap-2">
          <Button
            icon={<ImageUp aria-hidden />}
            busy={busy && !isRemoving}
            aria-describedby={noteId}
            onClick={() => chooser.current?.click()}
          >
            {picture ? "Change picture" : "Upload picture"}
          </Button>
          {picture ? (
            <Button busy={busy && isRemoving} onClick={() => void remove()}>
              Remove
            </Button>
          ) : null}
        </div>
        <input ref={chooser} type="file" accept={pictureTypes} aria-label="Picture file" hidden onChange={takeFile} />
        <p id={noteId} aria-live="polite" className={problem ? "text-xs text-bad" : "text-xs text-muted"}>
          {problem ?? "PNG, JPEG or WebP. Cropped to a square."}
        </p>
      </div>
    </div>
  );
}
