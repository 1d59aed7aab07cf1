import { Download, ExternalLink } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import {
  type ContentBlock,
  isWebAddress,
  jsonOf,
  looksLikeMarkdown,
} from "~/features/shared/project-screen/content-blocks.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button, buttonLook } from "~/ui/button.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatBytes } from "~/ui/time.tsx";

// The parser of Markdown is large: load it with the first text that needs it.
const Markdown = lazy(async () => ({ default: (await import("~/ui/markdown.tsx")).Markdown }));

type ContentViewProps = {
  block: ContentBlock;
  /** Reads a resource of the server that the result links to. */
  onRead?: ((uri: string) => void) | undefined;
};

/** One block of a result. It is untrusted: text is never rendered as HTML. */
export function ContentView({ block, onRead }: ContentViewProps) {
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
    case "audio":
      return (
        <figure>
          {/* biome-ignore lint/a11y/useMediaCaption: a server's sound has no captions */}
          <audio controls src={block.dataUrl} aria-label="Returned by the server" className="w-full max-w-md" />
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
          <Download /> {block.mimeType || "Binary"}, {formatBytes(Math.floor(block.base64.length * 0.75))}
        </a>
      );
    case "link":
      return <LinkContent block={block} onRead={onRead} />;
    case "resource":
      return (
        <div>
          <p className="mb-1 flex flex-wrap items-center gap-2 text-xs text-muted">
            <code className="break-all">{block.uri}</code>
            {block.mimeType && <Badge mono>{block.mimeType}</Badge>}
          </p>
          <TextContent text={block.text} speaker={null} isMarkdown={block.mimeType?.startsWith("text/markdown")} />
        </div>
      );
    case "unknown":
      return <JsonTree value={block.value} />;
  }
}

type TextContentProps = {
  text: string;
  speaker: string | null;
  isMarkdown?: boolean | undefined;
};

function TextContent({ text, speaker, isMarkdown }: TextContentProps) {
  const json = jsonOf(text);
  return (
    <div>
      {speaker !== null && <p className="mb-1 text-xs font-medium text-muted">{speaker}</p>}
      {json !== undefined ? (
        <div className="rounded-md border bg-sunken p-2">
          <JsonTree value={json} />
        </div>
      ) : isMarkdown || looksLikeMarkdown(text) ? (
        <MarkdownContent text={text} />
      ) : (
        <CodeBlock code={text} label="text" wrap className="max-h-96" />
      )}
    </div>
  );
}

/** Rendered, or as the server wrote it. */
function MarkdownContent({ text }: { text: string }) {
  const [isSource, setIsSource] = useState(false);
  const source = <CodeBlock code={text} label="text" wrap className="max-h-96" />;
  return (
    <div className="flex flex-col gap-1.5">
      {isSource ? (
        source
      ) : (
        <div className="rounded-md border bg-sunken p-3">
          <Suspense fallback={source}>
            <Markdown text={text} />
          </Suspense>
        </div>
      )}
      <Button
        size="sm"
        variant="ghost"
        className="self-start"
        aria-pressed={isSource}
        onClick={() => setIsSource(!isSource)}
      >
        Show source
      </Button>
    </div>
  );
}

type LinkContentProps = {
  block: Extract<ContentBlock, { kind: "link" }>;
  onRead: ((uri: string) => void) | undefined;
};

function LinkContent({ block, onRead }: LinkContentProps) {
  const isWeb = isWebAddress(block.uri);
  return (
    <div className="text-sm">
      {isWeb ? (
        <a
          href={block.uri}
          target="_blank"
          rel="noreferrer nofollow"
          className="inline-flex max-w-full items-center gap-1 text-accent-text underline underline-offset-2"
        >
          <span className="truncate">{block.name}</span>
          <ExternalLink className="size-3.5 shrink-0" />
        </a>
      ) : (
        <span className="flex flex-wrap items-center gap-2">
          {block.name}
          {onRead && (
            <Button size="sm" onClick={() => onRead(block.uri)}>
              Read
            </Button>
          )}
        </span>
      )}
      <code className="block text-xs break-all text-muted">{block.uri}</code>
      {block.description && <p className="text-xs text-muted">{block.description}</p>}
    </div>
  );
}
