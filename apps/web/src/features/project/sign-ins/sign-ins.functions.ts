import { createServerFn } from "@tanstack/react-start";
import { signInAttempts } from "~/features/project/request-log/sign-in-attempts.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

/** The last attempts of clients to get into a server, step by step. */
const getSignIns = createServerFn({ method: "GET" })
  .middleware([projectAccess("client.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => signInAttempts(context.ctx, data));

/** After this time without news, an attempt that waits may have ended. */
const refetchMs = 30_000;

export const signInsQuery = ({ orgSlug, projectName }: ProjectKey) =>
  queryOf(
    [...projectQueryKey({ orgSlug, projectName }), "sign-ins"],
    getSignIns,
    { orgSlug, projectName },
    { refetchInterval: refetchMs, staleTime: 0 },
  );
