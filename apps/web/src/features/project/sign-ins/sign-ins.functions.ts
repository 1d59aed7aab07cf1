import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { signInAttempts } from "~/features/project/request-log/sign-in-attempts.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

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
