import type { AdminJwtView } from "@towpath/core/calling/admin-jwt";
import { clientGuides } from "@towpath/mcp/connect";
import { useEffect, useState } from "react";
import { GuideTabs } from "~/features/shared/project-screen/guide-tabs.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { decodeToken } from "./decode-token.ts";

type Server = { readonly name: string; readonly url: string };

const uses = ["curl", "python", "inspector"] as const;

/** A token with its remaining time, its claims, and how to use it. */
export function TokenView(view: {
  readonly issued: AdminJwtView;
  readonly server: Server;
  readonly onRenew: () => void;
  readonly isRenewing: boolean;
}) {
  const { token, expiresAt, isCached } = view.issued;
  const secondsLeft = useSecondsLeft(expiresAt);
  if (secondsLeft <= 0) {
    return (
      <Callout
        tone="warn"
        title="The token has expired"
        actions={
          <Button size="sm" busy={view.isRenewing} onClick={view.onRenew}>
            Get a new one
          </Button>
        }
      />
    );
  }
  return (
    <>
      <div>
        <div className="flex min-w-0 items-start gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
          <code data-testid="admin-jwt" className="min-w-0 flex-1 py-1 text-xs break-all">
            {token}
          </code>
          <CopyButton text={token} label="Copy token" />
        </div>
        <p className="mt-1.5 text-sm text-muted">
          Expires in {remainingText(secondsLeft)}. {isCached ? "Reused from the cache." : "Newly issued."}
        </p>
      </div>
      <Decoded token={token} />
      <HowToUse token={token} server={view.server} />
    </>
  );
}

function Decoded({ token }: { readonly token: string }) {
  const { header, claims } = decodeToken(token);
  const shown = (value: unknown) => JSON.stringify(value, null, 2);
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium">What it says</h3>
      <div className="grid gap-3 sm:grid-cols-2">
        <CodeBlock code={shown(header)} label="Header" wrap />
        <CodeBlock code={shown(claims)} label="Claims" wrap />
      </div>
    </div>
  );
}

function HowToUse({ token, server }: { readonly token: string; readonly server: Server }) {
  const guides = clientGuides(server, { way: "key", key: token }).filter(({ id }) => uses.some((use) => use === id));
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium">How to use it</h3>
      <GuideTabs guides={guides} />
    </div>
  );
}

function useSecondsLeft(expiresAt: string): number {
  const left = () => Math.ceil((new Date(expiresAt).getTime() - Date.now()) / 1000);
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  });
  return seconds;
}

const remainingText = (seconds: number) =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
