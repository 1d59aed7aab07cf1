import type { ClientGuide } from "@towpath/mcp/connect";
import { ArrowUpRight } from "lucide-react";
import { useState } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { CodeBlock, InlineCode } from "~/ui/code-block.tsx";
import { TabPanel, Tabs } from "~/ui/tabs.tsx";

/** How to connect each client, a tab for each. The first is open. */
export function GuideTabs({ guides, wrap = false }: { guides: readonly ClientGuide[]; wrap?: boolean }) {
  const [chosen, setChosen] = useState<string | undefined>(guides[0]?.id);
  return (
    <Tabs
      label="Client"
      value={chosen ?? ""}
      onChange={setChosen}
      tabs={guides.map(({ id, label }) => ({ value: id, label }))}
      wrap={wrap}
    >
      {guides.map((guide) => (
        <TabPanel key={guide.id} value={guide.id} className="pt-4">
          <Guide guide={guide} />
        </TabPanel>
      ))}
    </Tabs>
  );
}

function Guide({ guide: { label, link, steps, snippet, note } }: { readonly guide: ClientGuide }) {
  return (
    <div className="flex flex-col items-start gap-3">
      {link && (
        // The browser passes links of other schemes to the client; links to sites open in a new tab.
        <a
          href={link.href}
          {...(link.href.startsWith("https:") ? { target: "_blank", rel: "noreferrer" } : {})}
          className={buttonLook({ variant: snippet ? "primary" : "secondary" })}
        >
          {link.label}
          <ArrowUpRight />
        </a>
      )}
      {steps.length > 0 && (
        <ol className="flex list-decimal flex-col gap-1.5 pl-5 text-sm marker:text-faint">
          {steps.map((step) => (
            <li key={step} className="break-words">
              <InlineCode text={step} />
            </li>
          ))}
        </ol>
      )}
      {snippet && (
        <div className="w-full min-w-0">
          <p className="mb-1.5 text-sm text-muted">
            <InlineCode text={snippet.place} />
          </p>
          <CodeBlock code={snippet.code} label={`${label} snippet`} wrap />
        </div>
      )}
      {note && (
        <p className="text-sm text-muted">
          <InlineCode text={note} />
        </p>
      )}
    </div>
  );
}
