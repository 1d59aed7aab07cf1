import { Download, ExternalLink } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatBytes } from "~/ui/time.tsx";
import { type ContentBlock, isWebAddress, jsonOf } from "./content-blocks.ts";

/** One block of a result. It is untrusted: text is never rendered as HTML. */
export function ContentView({ block }: { block: ContentBlock }) {
  switch (block.kind) {
    case "text":
      return <TextContent text={block.text} speaker={block.role} />;
    case "image":
      return (
        <figure>
          <img src={block.dataUrl} alt="Returned by the server" className="max-h-96 max-w-full rounded-md border" />
          <figcaption className="mt-1 text-xs text-muted">{block.mimeType}</figcaption>
        </figure>
      );
    case "binary":
      return (
        <a
          href={`data:application/octet-stream;base64,${block.base64}`}
          download={block.name.replace(/[^\w.-]+/g, "_").slice(0, 80) || "content"}
          className={buttonLook()}
        >
          <Download aria-hidden /> {block.mimeType || "Binary"}, {formatBytes(Math.floor(block.base64.length * 0.75))}
        </a>
      );
    case "link":
      return <LinkContent block={block} />;
    case "resource":
      return (
        <div>
          <p className="mb-1 flex flex-wrap items-center gap-2 text-xs text-muted">
            <code className="break-all">{block.uri}</code>
            {block.mimeType && <Badge mono>{block.mimeType}</Badge>}
          </p>
          <TextContent text={block.text} speaker={null} />
        </div>
      );
    case "unknown":
      return <JsonTree value={block.value} />;
  }
}

function TextContent({ text, speaker }: { text: string; speaker: string | null }) {
  const json = jsonOf(text);
  return (
    <div>
      {speaker !== null && <p className="mb-1 text-xs font-medium text-muted">{speaker}</p>}
      {json === undefined ? (
        <CodeBlock code={text} label="text" wrap className="max-h-96" />
      ) : (
        <div className="rounded-md border bg-sunken p-2">
          <JsonTree value={json} />
        </div>
      )}
    </div>
  );
}

function LinkContent({ block }: { block: Extract<ContentBlock, { kind: "link" }> }) {
  return (
    <div className="text-sm">
      {isWebAddress(block.uri) ? (
        <a
          href={block.uri}
          target="_blank"
          rel="noreferrer nofollow"
          className="inline-flex max-w-full items-center gap-1 text-accent-text underline underline-offset-2"
        >
          <span className="truncate">{block.name}</span>
          <ExternalLink className="size-3.5 shrink-0" aria-hidden />
        </a>
      ) : (
        <span>{block.name}</span>
      )}
      <code className="block text-xs break-all text-muted">{block.uri}</code>
      {block.description && <p className="text-xs text-muted">{block.description}</p>}
    </div>
  );
}
