import { Download } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";

/** New recovery codes, the only time that they can be seen. */
export function RecoveryCodes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }) {
  const text = codes.join("\n");
  const download = () => {
    const url = URL.createObjectURL(new Blob([`Towpath recovery codes\n\n${text}\n`], { type: "text/plain" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: "towpath-recovery-codes.txt" });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="flex items-start gap-1 rounded-md border bg-sunken py-2 pr-1 pl-3">
        <ul
          aria-label="Recovery codes"
          className="grid min-w-0 flex-1 gap-x-6 gap-y-1 font-mono text-sm sm:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton text={text} label="Copy codes" />
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button icon={<Download />} onClick={download}>
          Download
        </Button>
        <Button variant="primary" onClick={onDone}>
          I've saved them
        </Button>
      </div>
    </div>
  );
}
