import type { AskServer, ModelAnswer, OfferedTool } from "@towpath/replay";

/** A server as callers reach it. `authMode`: of its project. */
export type ReplayTarget = { readonly url: string; readonly projectId: string; readonly authMode: string };

/**
 * Opens a connection to a server on which calls are replayed: as the platform, past no limit, policy or log. An answer never
 * rejects.
 */
export type OpenReplayServer = (target: ReplayTarget) => { readonly ask: AskServer; close(): Promise<void> };

/** The model that saved questions are asked of. */
export type QuestionModel = {
  /** As the operator named it. */
  readonly name: string;
  /** What an organization may use of models within 24 hours, with its chats. */
  readonly tokensPerDay: number;
  /**
   * Which tool it would call first, or why it chose none, with the tokens that either cost; none is called.
   *
   * @throws an Error whose message is for people, where nothing was asked
   */
  choose(
    asked: { readonly question: string; readonly tools: readonly OfferedTool[] },
    signal: AbortSignal,
  ): Promise<ModelAnswer & { readonly inputTokens: number; readonly outputTokens: number }>;
};
