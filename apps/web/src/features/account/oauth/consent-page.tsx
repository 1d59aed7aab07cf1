import { useSuspenseQuery } from "@tanstack/react-query";
import type { ConsentTool, ConsentView } from "@towpath/core/calling/oauth/schema";
import { type ReactNode, useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { ServerIcon } from "~/ui/letter-tile.tsx";
import { failureText } from "~/ui/toast.ts";
import { OAuthFrame } from "./consent-states.tsx";
import { approveConsent, consentQuery, denyConsent } from "./oauth.functions.ts";

const scopeTexts: Readonly<Record<string, string>> = {
  mcp: "Call this server's tools, and read its resources and prompts, in your name",
};
const portalScopeTexts: Readonly<Record<string, string>> = {
  mcp: "Call the portal's tools, and read its resources and prompts, in your name, limited to those you can use yourself",
};

/** Asks whether an app may call a server in the user's name (GW-5). The app's own texts are untrusted. */
export function ConsentPage({ request }: { readonly request: string }) {
  const { data: consent } = useSuspenseQuery(consentQuery(request));
  const [remembers, setRemembers] = useState(false);
  const [busy, setBusy] = useState<"allow" | "deny" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  const answer = async (choice: "allow" | "deny") => {
    setBusy(choice);
    setProblem(null);
    try {
      const { location } = await (choice === "allow"
        ? approveConsent({ data: { request, remembers } })
        : denyConsent({ data: { request } }));
      // Not a form: the content security policy lets forms lead to this site only.
      window.location.assign(location);
    } catch (error) {
      setProblem(failureText(error));
      setBusy(null);
    }
  };

  const { client, refusal, redirectHost, userEmail } = consent;
  return (
    <OAuthFrame title={refusal ? "You can't connect this server" : `Connect ${client.name}?`}>
      {refusal ? <Refusal consent={consent} /> : <Question consent={consent} />}
      {refusal ? null : (
        <div className="mt-5">
          <Checkbox checked={remembers} onChange={setRemembers}>
            Don't ask again for 30 days when {client.name} wants to use this server
          </Checkbox>
        </div>
      )}
      <Failure className="mt-4">{problem}</Failure>
      <div className="mt-6 flex flex-col gap-2 sm:flex-row-reverse sm:justify-end">
        {refusal ? null : (
          <Button
            variant="primary"
            size="lg"
            busy={busy === "allow"}
            disabled={busy !== null}
            onClick={() => void answer("allow")}
          >
            Allow
          </Button>
        )}
        <Button size="lg" busy={busy === "deny"} disabled={busy !== null} onClick={() => void answer("deny")}>
          {refusal ? "Back to the app" : "Cancel"}
        </Button>
      </div>
      <p className="mt-5 text-sm break-words text-muted">
        Either way you return to <strong className="font-medium text-ink">{redirectHost}</strong>. Signed in as{" "}
        {userEmail}.{" "}
        <a className="font-medium text-accent-text underline underline-offset-3" href="/logout">
          Sign out
        </a>
      </p>
    </OAuthFrame>
  );
}

function Question({ consent }: { readonly consent: ConsentView }) {
  const { client, server, scopes, redirectHost, resource } = consent;
  const reached = server?.portalServers ?? null;
  const texts = reached ? portalScopeTexts : scopeTexts;
  const name = server && (
    <span className="inline-flex max-w-full items-center gap-2">
      <ServerIcon name={server.name} url={server.iconUrl} className="size-5" />
      <span className="min-w-0">
        {server.name} of {server.organizationName}
      </span>
    </span>
  );
  const rows: readonly (readonly [string, ReactNode])[] = [
    ["App", client.name],
    ["Published by", client.verifiedHost ?? "Unknown"],
    [reached ? "Portal" : "Server", name],
    ...(reached ? [["Its servers", reached.join(", ") || "None now"] as const] : []),
    ["Address", resource],
    ["Returns to", redirectHost],
  ];
  return (
    <>
      <p className="mt-2 text-base text-muted">
        {reached
          ? "An app wants to use one of your portals: one address for tools from several servers."
          : "An app wants to use one of your servers."}
      </p>
      <dl className="mt-5 divide-y rounded-lg border bg-surface">
        {rows.map(([label, value]) => (
          <div key={label} className="flex flex-col gap-x-4 px-4 py-2.5 sm:flex-row">
            <dt className="w-28 shrink-0 text-sm text-muted">{label}</dt>
            <dd className="min-w-0 flex-1 text-sm break-words" dir="auto">
              {value}
            </dd>
          </div>
        ))}
      </dl>
      <h2 className="mt-5 text-sm font-medium">It will be able to</h2>
      <ul className="mt-1.5 list-disc space-y-1 pl-5 text-sm text-muted marker:text-faint">
        {scopes.map((scope) => (
          <li key={scope}>{texts[scope] ?? scope}</li>
        ))}
      </ul>
      {server?.tools ? <Tools tools={server.tools} /> : null}
      <Warnings consent={consent} />
    </>
  );
}

/** More are folded. */
const maxTools = 8;

/** Tools that the app could call, by the server's names. Destructive ones come first, so that none is hidden by folding. */
function Tools({ tools }: { readonly tools: readonly ConsentTool[] }) {
  const [shown, folded] = [tools.slice(0, maxTools), tools.slice(maxTools)];
  const destructive = tools.filter(({ isDestructive }) => isDestructive).length;
  return (
    <section aria-label="Tools" className="mt-5">
      <h2 className="text-sm font-medium">
        {tools.length === 0 ? "It has no tools now" : `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`}
        {destructive > 0 ? `, ${destructive} destructive` : null}
      </h2>
      <ToolNames tools={shown} />
      {folded.length > 0 ? (
        <details className="mt-1.5 text-sm">
          <summary className="w-fit rounded-sm text-muted hover:text-ink">{`${folded.length} more`}</summary>
          <ToolNames tools={folded} />
        </details>
      ) : null}
    </section>
  );
}

function ToolNames({ tools }: { readonly tools: readonly ConsentTool[] }) {
  return (
    <ul className="mt-1.5 flex flex-wrap gap-x-3 gap-y-1.5 text-sm">
      {tools.map(({ name, isDestructive }) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <code className="min-w-0 text-xs break-all">{name}</code>
          {isDestructive ? <Badge tone="bad">Destructive</Badge> : null}
        </li>
      ))}
    </ul>
  );
}

/** Why the name may be false. */
function Warnings({ consent }: { readonly consent: ConsentView }) {
  const { client, isLocalOnly, rememberedTimes } = consent;
  if (rememberedTimes >= 3) {
    return (
      <Callout tone="warn" className="mt-5" title={`${client.name} asked ${rememberedTimes} times in ten minutes`}>
        It got access each time without asking you, and started over. Something else in it fails: see its log, or the
        server's page Sign-ins.
      </Callout>
    );
  }
  if (isLocalOnly) {
    return (
      <Callout tone="warn" className="mt-5" title="Only continue if you just started this in an app on this computer">
        The answer goes to a program on your computer, and Towpath can't check which one. Any program can call itself{" "}
        {client.name}.
      </Callout>
    );
  }
  if (client.verifiedHost !== null) return null;
  return (
    <Callout tone="warn" className="mt-5" title="Towpath can't check who made this app">
      It registered itself and chose its own name. Only continue if you just started this there.
    </Callout>
  );
}

function Refusal({ consent }: { readonly consent: ConsentView }) {
  return (
    <>
      <p className="mt-2 text-base break-words text-muted">
        {consent.refusal === "role"
          ? "Your role in this server's organization doesn't allow calling its tools. Ask an owner or admin to make you a member."
          : "You're not a member of this server's organization. Ask someone in the organization to invite you, or sign out and use another account."}
      </p>
      <p className="mt-3 text-sm break-all text-muted">{consent.resource}</p>
    </>
  );
}
