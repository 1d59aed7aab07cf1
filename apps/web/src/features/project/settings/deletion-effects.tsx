import { useQuery } from "@tanstack/react-query";
import type { ProjectKind } from "@towpath/core/projects/project";
import { connectedClientsQuery } from "~/features/account/oauth/oauth.functions.ts";
import { portalQuery, portalsQuery } from "~/features/project/portals/portals.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { listedNames } from "./listed-names.ts";

export type Deleted = { readonly projectKey: ProjectKey; readonly name: string; readonly kind: ProjectKind };

const unchanged = {
  hosted: "The repository is not changed.",
  external: "The server itself is not changed.",
  portal: "Its servers are not changed.",
};

/** What the deletion of a project takes, for the dialog that asks. */
export function DeletionEffects({ projectKey, name, kind }: Deleted) {
  const { orgSlug } = projectKey;
  return (
    <>
      <p>This deletes, for everyone in the organization:</p>
      <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
        {kind === "hosted" ? (
          <>
            <li>the addresses of the server and its previews; open connections end</li>
            <li>all builds, deployments and environment variables</li>
            <li>the request log, server logs and build logs</li>
          </>
        ) : (
          <>
            <li>its address on Towpath; open connections end</li>
            <li>{kind === "portal" ? "its" : "its credential,"} access rules and limits</li>
            <li>the request log</li>
          </>
        )}
      </ul>
      {kind === "portal" ? <LostToCallers projectKey={projectKey} /> : <LostToPortals orgSlug={orgSlug} name={name} />}
      <p className="mt-2">{unchanged[kind]} The name becomes available again.</p>
    </>
  );
}

/** Which portals offer the server's tools until then (ORG-3). */
function LostToPortals({ orgSlug, name }: { readonly orgSlug: string; readonly name: string }) {
  const { data: portals = [] } = useQuery(portalsQuery(orgSlug));
  const affected = portals.filter(({ servers }) => servers.includes(name));
  if (affected.length === 0) return null;
  const emptied = affected.filter(({ servers }) => servers.length === 1);
  return (
    <p className="mt-2">
      {affected.length === 1 ? "The portal " : "The portals "}
      <strong className="font-medium">{listedNames(affected.map((portal) => portal.name))}</strong>
      {affected.length === 1 ? " loses its tools." : " lose its tools."}
      {emptied.length > 0 ? ` ${listedNames(emptied.map((portal) => portal.name))} will have no servers left.` : null}
    </p>
  );
}

/** Portals' items that their callers lose (ORG-3). */
function LostToCallers({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: portal } = useQuery(portalQuery(projectKey));
  const { data: clients = [] } = useQuery(connectedClientsQuery(projectKey));
  const servers = portal?.servers ?? [];
  if (servers.length === 0) return null;
  const tools = servers.flatMap((server) => server.tools).filter(({ exposed }) => exposed !== null).length;
  return (
    <p className="mt-2">
      Its callers lose {tools === 1 ? "1 tool" : `${tools} tools`} of{" "}
      <strong className="font-medium">{listedNames(servers.map((server) => server.name))}</strong>
      {clients.length === 0
        ? null
        : `, and ${clients.length === 1 ? "1 connected app has" : `${clients.length} connected apps have`} to connect elsewhere`}
      . Anyone with access to the servers can still call them directly.
    </p>
  );
}
