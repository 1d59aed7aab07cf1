import type { QueryClient } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";
import { isTowpathErrorCode } from "~/http/errors.ts";
import type { ProjectKey } from "./project-key.schema.ts";
import { projectQuery } from "./project-screen.functions.ts";

/**
 * Loads something of a project. If it doesn't exist, the page's own not-found view is shown; if the project is gone,
 * too, the error is the project's (PRJ-1).
 */
export async function orNotFound<T>(queryClient: QueryClient, key: ProjectKey, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (!isTowpathErrorCode(error, "not_found")) throw error;
    await queryClient.fetchQuery({ ...projectQuery(key), staleTime: 0 });
    throw notFound();
  }
}
