import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ProjectKind } from "@towpath/core/projects/project";
import { connectedClientsQuery } from "~/features/account/oauth/oauth.functions.ts";
import { portalQuery, portalsQuery } from "~/features/project/portals/portals.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { removeProject } from "~/features/shared/project-screen/settings.functions.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { listedNames } from "./listed-names.ts";

type Deleted = { readonly projectKey: ProjectKey; readonly name: string; readonly kind: ProjectKind };

const texts = {
  hosted: {
    title: "Delete server",
    does: "Stops the server and deletes everything Towpath stores for it.",
    unchanged: "The repository is not changed.",
  },
  external: {
    title: "Delete server",
    does: "Closes its address here and deletes everything Towpath stores for it.",
    unchanged: "The server itself is not changed.",
  },
  portal: {
    title: "Delete portal",
    does: "Closes its address and deletes everything Towpath stores for it.",
    unchanged: "Its servers are not changed.",
  },
} as const satisfies Record<ProjectKind, { title: string; does: string; unchanged: string }>;

/** Deletes the project (PRJ-11). `name` is its exact name; the URL may spell it differently. */
export function DeleteProject({ projectKey, name, kind }: Deleted) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { orgSlug } = projectKey;
  const remove = async (confirmation: string) => {
    await removeProject({ data: { ...projectKey, confirmation } });
    // The next page, the switcher and the palette list the other projects.
    await queryClient.invalidateQueries(profileQuery);
    const to = kind === "portal" ? "/$orgSlug/portals" : "/$orgSlug/servers";
    await navigate({ to, params: { orgSlug }, replace: true });
    // Only after navigating: this page's queries would refetch the deleted project.
    await queryClient.invalidateQueries();
  };
  return (
    <Card id="delete" className="scroll-mt-24">
      <CardHeader title={texts[kind].title} description={texts[kind].does} />
      <CardBody>
        <ConfirmDeletion label={texts[kind].title} name={name} onConfirm={remove}>
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
          {kind === "portal" ? (
            <LostToCallers projectKey={projectKey} />
          ) : (
            <LostToPortals orgSlug={orgSlug} name={name} />
          )}
          <p className="mt-2">{texts[kind].unchanged} The name becomes available again.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
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
