import { clientGuides } from "@towpath/mcp/connect";
import { Copyable } from "~/features/public-site/copyable.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import type { RegistryData } from "./registry.functions.ts";

const notes = {
  "towpath-public": "Anyone can call this server. Your client needs only the URL.",
  "towpath-cloud": "Members sign in from their client, which needs only the URL. Scripts send an API key.",
  passthrough: "The server asks you to sign in itself. Your client needs only the URL.",
} as const;

/** How to connect a client: the URL, a link for each client that has one, a command. */
export function ConnectCard({ entry }: { readonly entry: RegistryData }) {
  const { url, authMode } = entry;
  // Visitors have no keys: clients sign in or ask.
  const guides = clientGuides({ name: entry.projectName.toLowerCase(), url }, { way: "open" });
  const claudeCode = guides.find(({ id }) => id === "claude-code")?.snippet;
  return (
    <Card className="sticky top-24">
      <CardHeader title="Connect" description={notes[authMode]} />
      <CardBody className="flex flex-col gap-4">
        <Copyable text={url} label="Copy URL" />
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Add it to your client</h3>
          <ul className="flex flex-wrap gap-2">
            {guides.map(({ id, link, snippet }) =>
              // Links without a snippet lead to a site's settings.
              link && snippet ? (
                <li key={id}>
                  <a href={link.href} className={buttonLook()}>
                    {link.label}
                  </a>
                </li>
              ) : null,
            )}
          </ul>
        </div>
        {claudeCode && (
          <div>
            <h3 className="mb-1.5 text-sm font-medium">Claude Code</h3>
            <Copyable text={claudeCode.code} label="Copy command" />
          </div>
        )}
      </CardBody>
    </Card>
  );
}
