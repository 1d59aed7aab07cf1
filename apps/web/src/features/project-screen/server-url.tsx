import { classNames } from "~/ui/class-names.ts";
import { CopyButton } from "~/ui/copy-button.tsx";

/** An MCP endpoint, readable to its end and ready to copy. */
export function ServerUrl({ url, className }: { url: string; className?: string }) {
  return (
    <span
      className={classNames(
        "inline-flex max-w-full min-w-0 items-center gap-1 rounded-md border bg-sunken py-0.5 pr-0.5 pl-2.5",
        className,
      )}
    >
      <code className="min-w-0 text-xs wrap-anywhere">{url}</code>
      <CopyButton text={url} label="Copy URL" />
    </span>
  );
}
