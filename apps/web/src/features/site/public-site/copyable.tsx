import { Check, Copy } from "lucide-react";
import { useId } from "react";

/** Text with a button that copies it, on pages without the app: `siteScript` does it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const id = useId();
  return (
    <div className="flex min-w-0 items-start gap-1 rounded-md border bg-sunken py-1 pr-1 pl-3">
      <pre className="min-w-0 flex-1 py-1.5 text-xs leading-5 whitespace-pre-wrap wrap-anywhere">
        <code id={id} className="text-[length:inherit]">
          {text}
        </code>
      </pre>
      <button
        type="button"
        aria-label={label}
        title={label}
        data-copies={id}
        className="group inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
      >
        <Copy className="size-3.5 group-data-copied:hidden" />
        <Check className="hidden size-3.5 text-ok group-data-copied:block" />
      </button>
    </div>
  );
}
