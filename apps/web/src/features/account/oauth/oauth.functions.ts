import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  approveAuthorization,
  denyAuthorization,
  disconnectClient,
  getConsent as getConsentVerb,
  getServerChoice as getServerChoiceVerb,
  listConnectedClients,
  listGrants,
  revokeGrant,
} from "@towpath/core/calling/oauth";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { projectAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

const requestInput = z.object({ request: z.string().max(100) });
const projectInput = z.object({ orgSlug: z.string(), projectName: z.string() });

/** A client's request for consent. The verb checks whether the user may call the server. */
const getConsent = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(requestInput))
  .handler(({ context, data }) => getConsentVerb({ ctx: context.ctx, input: data }));

/** Grants it. Returns the client's redirect URI with a code, for the browser to open. `remembers`: for 30 days. */
export const approveConsent = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(requestInput.extend({ remembers: z.boolean().default(false) })))
  .handler(({ context, data }) =>
    approveAuthorization({ ctx: context.ctx, input: { ...data, issuer: services().config.baseUrl } }),
  );

/** Declines it. Returns the client's address, with the error. */
export const denyConsent = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(requestInput))
  .handler(({ context, data }) =>
    denyAuthorization({ ctx: context.ctx, input: { ...data, issuer: services().config.baseUrl } }),
  );

/** The servers that the user can choose from, for an app that doesn't name one. */
const getServerChoice = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(z.object({ clientId: z.string().max(2000) })))
  .handler(({ context, data }) => getServerChoiceVerb({ ctx: context.ctx, input: data }));

/** The apps that the user connected. */
const getGrants = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) => listGrants({ ctx: context.ctx }));

/** Disconnects one of them. */
export const revokeOwnGrant = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ grantId: z.uuid() })))
  .handler(({ context, data }) => revokeGrant({ ctx: context.ctx, input: data }));

/** The apps that are connected to a server, with the people who connected them. */
const getConnectedClients = createServerFn({ method: "GET" })
  .middleware([projectAccess("client.read")])
  .validator(input(projectInput))
  .handler(({ context, data }) => listConnectedClients({ ctx: context.ctx, input: data }));

/** Disconnects an app from a server, for everybody. */
export const disconnectConnectedClient = createServerFn({ method: "POST" })
  .middleware([projectAccess("client.disconnect")])
  .validator(input(projectInput.extend({ clientId: z.string().max(2000) })))
  .handler(({ context, data }) => disconnectClient({ ctx: context.ctx, input: data }));

/**
 * A request never changes, and each is a new page load. The data must stay fresh beyond the loader: a slow render would
 * otherwise read it twice, and the page would replace its buttons while somebody presses them.
 */
export const consentQuery = (request: string) =>
  queryOf(
    ["oauth", "consent", request],
    getConsent,
    { request },
    { retry: false, staleTime: Number.POSITIVE_INFINITY },
  );

export const serverChoiceQuery = (clientId: string) =>
  queryOf(["oauth", "server-choice", clientId], getServerChoice, { clientId });

export const grantsQuery = queryOf(["oauth", "grants"], getGrants, undefined);

export const connectedClientsQuery = (key: { readonly orgSlug: string; readonly projectName: string }) =>
  queryOptions({
    queryKey: ["oauth", "clients", key.orgSlug, key.projectName],
    queryFn: ({ signal }) =>
      getConnectedClients({ data: { orgSlug: key.orgSlug, projectName: key.projectName }, signal }),
  });
