import { pictureMaxBytes, pictureSize } from "@towpath/core/tenancy/picture/schema";
import { ImageUp } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Avatar } from "~/ui/avatar.tsx";
import { Button } from "~/ui/button.tsx";
import { toast } from "~/ui/toast.ts";

type PictureFieldProps = {
  /** The subject's name, whose initials replace a missing picture. */
  readonly name: string;
  readonly picture: string | null;
  readonly shape: "person" | "organization";
  /** Base64, or null to remove it. */
  readonly onSave: (picture: string | null) => Promise<unknown>;
};

/** The picture of a person or an organization: chosen, saved at once, removed (ORG-4). */
export function PictureField({ name, picture, shape, onSave }: PictureFieldProps) {
  const hintId = useId();
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
  /** Clears the input, so that the same file can be chosen again. */
  const takeFile = () => {
    const input = chooser.current;
    const file = input?.files?.[0];
    if (input) input.value = "";
    void choose(file);
  };
  // Chosen before the page's script ran.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(takeFile, []);
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
            icon={<ImageUp />}
            busy={busy && !isRemoving}
            aria-describedby={hintId}
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
        <p id={hintId} aria-live="polite" className={problem ? "text-xs text-bad" : "text-xs text-muted"}>
          {problem ?? "PNG, JPEG or WebP. Cropped to a square."}
        </p>
      </div>
    </div>
  );
}

/** Accepted types. No SVG: it can run scripts. */
const pictureTypes = "image/png,image/jpeg,image/webp,image/gif,image/avif";

/** Larger files would take long to read. */
const maxFileBytes = 25_000_000;

/**
 * The middle of a picture as a square of 256 × 256 pixels, in base64. Redrawn, so that only pixels are sent and no
 * metadata such as place and camera.
 *
 * @throws Error whose message says what is wrong with the file
 */
async function scaledPicture(file: File): Promise<string> {
  if (file.size > maxFileBytes) throw new Error("This file is larger than 25 MB. Choose a smaller one.");
  const image = await createImageBitmap(file).catch(() => {
    throw new Error("Your browser can't read this file as a picture. Choose a PNG, JPEG or WebP.");
  });
  const canvas = document.createElement("canvas");
  canvas.width = pictureSize;
  canvas.height = pictureSize;
  const side = Math.min(image.width, image.height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("Your browser can't scale pictures.");
  context.imageSmoothingQuality = "high";
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  context.drawImage(image, left, top, side, side, 0, 0, pictureSize, pictureSize);
  image.close();
  // Browsers that can't encode WebP return a PNG, which can be too large for a photograph: then a JPEG is used.
  for (const type of ["image/webp", "image/jpeg"]) {
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, 0.9));
    if (blob && blob.size <= pictureMaxBytes) return base64Of(blob);
  }
  throw new Error("This picture can't be made small enough. Choose another one.");
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
