import type { AskServer } from "@towpath/replay";

/** A server as callers reach it. `authMode`: of its project. */
export type ReplayTarget = { readonly url: string; readonly projectId: string; readonly authMode: string };

/**
 * Opens a connection to a server on which calls are replayed: as the platform, past no limit, policy or log. An answer never
 * rejects.
 */
export type OpenReplayServer = (target: ReplayTarget) => { readonly ask: AskServer; close(): Promise<void> };
