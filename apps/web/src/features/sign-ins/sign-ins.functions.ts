import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { signInAttempts } from "~/http/sign-in-attempts.server.ts";
import { type ProjectKey, projectKeySchema } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";

/** The last attempts of clients to get into a server, step by step. */
const getSignIns = createServerFn({ method: "GET" })
  .middleware([projectAccess("client.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => signInAttempts(context.ctx, data));

/** After this time without news, an attempt that waits may have ended. */
const refetchMs = 30_000;

export const signInsQuery = ({ orgSlug, projectName }: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey({ orgSlug, projectName }), "sign-ins"],
    queryFn: ({ signal }) => getSignIns({ data: { orgSlug, projectName }, signal }),
    refetchInterval: refetchMs,
    staleTime: 0,
  });
