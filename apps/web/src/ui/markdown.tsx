import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { ExternalLink } from "lucide-react";
import { isValidElement, memo, type ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./code-block.tsx";
import { lowlight } from "./highlight.ts";

// Load it lazily: the parser is large.

/** Only addresses that are safe to follow. */
const safeAddress = (url: string) => (/^(https?:\/\/|mailto:)/i.test(url) ? url : "");

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  // An image would be fetched without consent, and its address can leak data that the text's author has read.
  img: ({ src, alt }) => <OutsideLink href={typeof src === "string" ? src : ""}>{alt || "Image"}</OutsideLink>,
  pre: ({ children }) => <Pre>{children}</Pre>,
  table: ({ children }) => (
    <div className="scroll-thin overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
};

function OutsideLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (!href) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <ExternalLink className="ml-0.5 inline size-3 align-baseline" />
    </a>
  );
}

function Pre({ children }: { children: ReactNode }) {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return <pre>{children}</pre>;
  const code = String(children.props.children ?? "").replace(/\n$/, "");
  const language = /language-(\S+)/.exec(children.props.className ?? "")?.[1] ?? null;
  return (
    <CodeBlock code={code} label={language === null ? "code" : `${language} code`}>
      <HighlightedCode code={code} language={language} />
    </CodeBlock>
  );
}

const look =
  "flex min-w-0 flex-col gap-3 text-sm leading-6 break-words [&_a]:text-accent-text [&_a]:underline [&_a]:underline-offset-2 " +
  "[&_h1]:text-base [&_h1]:font-semibold [&_h2]:text-base [&_h2]:font-semibold [&_h3]:font-semibold [&_h4]:font-semibold " +
  "[&_ul]:flex [&_ul]:list-disc [&_ul]:flex-col [&_ul]:gap-1 [&_ul]:pl-5 [&_ol]:flex [&_ol]:list-decimal [&_ol]:flex-col [&_ol]:gap-1 [&_ol]:pl-5 " +
  "[&_blockquote]:border-l-2 [&_blockquote]:pl-3 [&_blockquote]:text-muted [&_hr]:border-line " +
  "[&_:not(pre)>code]:rounded-sm [&_:not(pre)>code]:bg-hover/70 [&_:not(pre)>code]:px-1 [&_:not(pre)>code]:py-px [&_:not(pre)>code]:text-xs " +
  "[&_table]:w-full [&_table]:text-left [&_th]:border-b [&_th]:px-2 [&_th]:py-1 [&_th]:font-medium [&_td]:border-b [&_td]:px-2 [&_td]:py-1 [&_td]:align-top ";

/**
 * Untrusted Markdown, such as a model's. HTML stays text; links open in a new tab and lead to http(s) and mail
 * addresses only; images become links.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className={look}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} urlTransform={safeAddress} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

/** Longer code is not colored: the highlighter runs while text streams in. */
const maxLength = 20_000;

/** Highlighted code; plain for unknown languages. Never becomes HTML. */
function HighlightedCode({ code, language }: { code: string; language: string | null }) {
  if (language === null || !lowlight.registered(language) || code.length > maxLength) return code;
  return toJsxRuntime(lowlight.highlight(language, code), { Fragment, jsx, jsxs });
}
