import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import { listSessions, listUsers } from "@towpath/logs";
import { activityListSchema, sessionListSchema } from "@towpath/logs/sessions";
import { readRequestLogs } from "../log-reader.server.ts";
import { type SignInAttemptsView, signInAttempts } from "../sign-in-attempts.server.ts";
import { operatorProject } from "./operator-route.server.ts";

const sessionsSearchSchema = sessionListSchema.omit({ projectId: true });
const usersSearchSchema = activityListSchema.omit({ projectId: true });

/** A project's sessions, most recently active first. `cursor` is the `nextCursor` of the page before. */
export async function projectSessions(ctx: Context, name: string, search: URLSearchParams) {
  const query = parseInput(sessionsSearchSchema, Object.fromEntries(search));
  const project = await operatorProject(ctx, name);
  return readRequestLogs((pool) => listSessions(pool, { ...query, projectId: project.id }));
}

/** The principals that called a project, most recently active first. */
export async function projectUsers(ctx: Context, name: string, search: URLSearchParams) {
  const query = parseInput(usersSearchSchema, Object.fromEntries(search));
  const project = await operatorProject(ctx, name);
  return readRequestLogs((pool) => listUsers(pool, { ...query, projectId: project.id }));
}

/** The last attempts of clients to get into a project's server, with the reason why one failed. */
export async function projectSignIns(ctx: Context, name: string): Promise<SignInAttemptsView> {
  const project = await operatorProject(ctx, name);
  return signInAttempts(ctx, { projectId: project.id });
}
