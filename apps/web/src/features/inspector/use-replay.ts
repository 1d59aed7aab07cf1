import { useQuery } from "@tanstack/react-query";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { type Replay, replayOf } from "../request-log/replay.ts";
import { explainedQuery } from "../request-log/request-log.functions.ts";
import type { InspectorSearch } from "./inspector-search.ts";

type Found = {
  /** The call to fill in; null for none. */
  readonly replay: Replay | null;
  /** The deployment that served it, whose branch is the one to call. */
  readonly deploymentId: string | null;
  /** Why there is none although the address names one. */
  readonly problem: string | null;
};

const none: Found = { replay: null, deploymentId: null, problem: null };

/** The call of the request log that the address names (PRJ-20). The route's loader has read it before the first render. */
export function useReplay(projectKey: ProjectKey, { request }: Pick<InspectorSearch, "request">): Found {
  const { data, error } = useQuery({
    ...explainedQuery(projectKey, { id: request ?? "" }),
    enabled: request !== undefined,
    retry: false,
  });
  if (request === undefined || (!data && !error)) return none;
  if (!data) return { ...none, problem: failureText(error) };
  const replay = replayOf(data);
  const problem = replay ? null : "The log didn't keep all of its arguments.";
  return { replay, deploymentId: data.deploymentId, problem };
}
