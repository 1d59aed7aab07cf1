import { queryOptions } from "@tanstack/react-query";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { getVariables } from "./settings.functions.ts";

/** Names of a project's variables. */
export const variablesQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "variables"],
    queryFn: ({ signal }) => getVariables({ data: key, signal }),
    ...projectCache,
  });
