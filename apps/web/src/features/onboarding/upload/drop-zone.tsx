import { FolderUp, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { archiveEndings, type NotPicked, type Picked, pickedArchive, pickedByDrop, pickedFolder } from "./picked.ts";
import { uploadLimits } from "./upload-limits.ts";

type DropZoneProps = {
  readonly title: string;
  /** How to drop something; not for fingers. */
  readonly hint: string;
  readonly onPicked: (picked: Picked | NotPicked) => void;
};

/** Accepts a dropped folder or archive, or one chosen by a button. */
export function DropZone({ title, hint, onPicked }: DropZoneProps) {
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const [depth, setDepth] = useState(0);
  return (
    <section
      aria-label={title}
      onDragEnter={(event) => {
        event.preventDefault();
        setDepth((now) => now + 1);
      }}
      onDragOver={(event) => event.preventDefault()}
      onDragLeave={() => setDepth((now) => now - 1)}
      onDrop={(event) => {
        event.preventDefault();
        setDepth(0);
        void pickedByDrop(event.dataTransfer.items).then(onPicked, () =>
          onPicked({ problem: "The browser couldn't read it. Choose the folder with the button." }),
        );
      }}
      className={classNames(
        "flex flex-wrap items-center gap-x-4 gap-y-3 rounded-lg border border-dashed px-4 py-4 transition-colors",
        depth > 0 ? "border-accent bg-accent-soft" : "border-line-strong bg-surface",
      )}
    >
      <FolderUp className="size-5 shrink-0 text-accent-text" />
      <div className="min-w-0 flex-1 basis-52">
        <p className="text-sm font-medium">{title}</p>
        <p className="text-xs text-muted">
          <span className="pointer-coarse:hidden">{hint} </span>
          {uploadLimits}.
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button icon={<FolderUp />} onClick={() => folder.current?.click()}>
          Choose a folder
        </Button>
        <Button icon={<Upload />} onClick={() => archive.current?.click()}>
          Choose an archive
        </Button>
      </div>
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        // React has no name for it; every browser has.
        {...{ webkitdirectory: "" }}
        onChange={({ target }) => {
          if (target.files)
            void pickedFolder([...target.files]).then(onPicked, () =>
              onPicked({ problem: "The browser couldn't read it. Try again." }),
            );
          target.value = "";
        }}
      />
      <input
        ref={archive}
        type="file"
        hidden
        aria-label="Archive"
        accept={archiveEndings}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) onPicked(pickedArchive(file));
          target.value = "";
        }}
      />
    </section>
  );
}
