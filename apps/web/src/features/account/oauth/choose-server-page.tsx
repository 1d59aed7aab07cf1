import { useSuspenseQuery } from "@tanstack/react-query";
import type { ServerChoiceView } from "@towpath/core/calling/oauth/schema";
import { ChevronRight } from "lucide-react";
import { authorizationPath } from "./authorization-path.ts";
import { OAuthFrame, OAuthProblem } from "./consent-states.tsx";
import { serverChoiceQuery } from "./oauth.functions.ts";

/**
 * Asks which server an app may call, when the app doesn't name one (GW-5). `parameters`: of its authorization request,
 * which is repeated for the chosen server.
 */
export function ChooseServerPage({ parameters }: { readonly parameters: URLSearchParams }) {
  const { data } = useSuspenseQuery(serverChoiceQuery(parameters.get("client_id") ?? ""));
  const app = data.clientName ?? "the app";
  if (data.servers.length === 0) {
    return (
      <OAuthProblem
        title="No server to connect"
        text="Your account can't call any server that members sign in to. Ask someone on the server's organization to invite you, or sign out and use another account."
      />
    );
  }
  return (
    <OAuthFrame title={`Which server did you add to ${app}?`}>
      <p className="mt-2 text-base text-muted">
        This app uses an older protocol version that doesn't name the server. Choose the server whose address you
        entered in the app. Next, we'll ask you to allow it.
      </p>
      <ul className="mt-5 divide-y overflow-hidden rounded-lg border bg-surface" aria-label="Your servers">
        {data.servers.map((server) => (
          <ServerLink key={server.url} server={server} parameters={parameters} />
        ))}
      </ul>
    </OAuthFrame>
  );
}

type ServerLinkProps = {
  readonly server: ServerChoiceView["servers"][number];
  readonly parameters: URLSearchParams;
};

function ServerLink({ server, parameters }: ServerLinkProps) {
  return (
    <li>
      <a
        href={authorizationPath(parameters, server.url)}
        className="flex items-center gap-3 px-4 py-3 hover:bg-hover focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-focus"
      >
        <span className="min-w-0 flex-1">
          <span className="block text-sm font-medium break-words">
            {server.name} <span className="font-normal text-muted">of {server.organizationName}</span>
          </span>
          <span className="block text-xs break-all text-muted">{server.url}</span>
        </span>
        <ChevronRight className="size-4 shrink-0 text-faint" />
      </a>
    </li>
  );
}
