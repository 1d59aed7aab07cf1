import { Fragment } from "react";
import { classNames } from "~/ui/class-names.ts";
import { CopyButton } from "~/ui/icon-button.tsx";

/** After a single slash and after a hyphen: where a narrow screen may break an address without cutting a word. */
const breaks = /(?<=[^:/]\/)|(?<=-)/;

/** An MCP endpoint, readable to its end and ready to copy. */
export function ServerUrl({ url, className }: { url: string; className?: string }) {
  return (
    <span
      className={classNames(
        "inline-flex max-w-full min-w-0 items-center gap-1 rounded-md border bg-sunken py-0.5 pr-0.5 pl-2.5",
        className,
      )}
    >
      <code className="min-w-0 text-xs wrap-anywhere">
        {url.split(breaks).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a constant text
          <Fragment key={index}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </code>
      <CopyButton text={url} label="Copy URL" />
    </span>
  );
}
