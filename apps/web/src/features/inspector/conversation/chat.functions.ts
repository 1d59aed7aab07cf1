import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequest } from "@tanstack/react-start/server";
import { mayCallServer } from "@towpath/core/calling/access";
import {
  type ChatSummary,
  type ChatView,
  deleteChat,
  getChat,
  listChats,
  renameChat,
  replyToTurn,
  stopTurn,
} from "@towpath/core/calling/chat";
import { chatReplySchema } from "@towpath/core/calling/chat/schema";
import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { knownQuestions, suggestQuestions } from "./suggest-questions.server.ts";

const chatKeySchema = projectKeySchema.extend({ chatId: z.uuid() });
const turnKeySchema = chatKeySchema.extend({ turnId: z.uuid() });

/** The chat's set-up: the models' names, and whether the person may call the server. */
const getChatSetup = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(async ({ context }) => ({
    models: services().config.chat.models.map(({ name }) => name),
    mayCall: await mayCallServer(context.ctx, context),
  }));

const listOwnChats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listChats({ ctx: context.ctx, input: data }));

const getOwnChat = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(chatKeySchema))
  .handler(({ context, data }) => getChat({ ctx: context.ctx, input: data }));

export const renameOwnChat = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(chatKeySchema.extend({ title: z.string() })))
  .handler(({ context, data }) => renameChat({ ctx: context.ctx, input: data }));

export const deleteOwnChat = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(chatKeySchema))
  .handler(({ context, data }) => deleteChat({ ctx: context.ctx, input: data }));

/** Answers an approval or a form of an answer under way. */
export const replyToOwnTurn = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(turnKeySchema.extend({ id: z.string().min(1).max(200), reply: chatReplySchema })))
  .handler(({ context, data }) => replyToTurn({ ctx: context.ctx, input: data }));

/** Stops an answer that this page doesn't follow. */
export const stopOwnTurn = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(turnKeySchema))
  .handler(({ context, data }) => stopTurn({ ctx: context.ctx, input: data }));

/** Questions to start a chat (CHAT-2): by the first model for people who may call the server, else from templates. */
const generateSuggestedQuestions = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ manifest: manifestSchema })))
  .handler(({ context, data }) => suggestQuestions({ ctx: context.ctx, input: data, signal: getRequest().signal }));

/** The same questions, or null where the model has to be asked. */
const getKnownQuestions = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ manifest: manifestSchema })))
  .handler(({ context, data }) => knownQuestions({ ctx: context.ctx, input: data }));

const chatQueryKey = (key: ProjectKey) => [...projectQueryKey(key), "chat"] as const;

export const chatSetupQuery = (key: ProjectKey) =>
  queryOf([...chatQueryKey(key), "setup"], getChatSetup, key, projectCache);

export const chatsQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...chatQueryKey(key), "list"],
    queryFn: ({ signal }): Promise<readonly ChatSummary[]> => listOwnChats({ data: key, signal }),
    ...projectCache,
  });

/** A chat with its turns; refetched while it has a running answer that this page doesn't follow. */
export const chatQuery = (key: ProjectKey, chatId: string) =>
  queryOptions({
    queryKey: [...chatQueryKey(key), "one", chatId],
    queryFn: ({ signal }): Promise<ChatView> => getOwnChat({ data: { ...key, chatId }, signal }),
    refetchInterval: ({ state }) => (state.data?.turns.at(-1)?.status === "running" ? 2000 : false),
    staleTime: 0,
    gcTime: 60_000,
    retry: false,
  });

/** `buildId`: the manifest's build. */
type Offered = { readonly buildId: string; readonly manifest: z.input<typeof manifestSchema> };

export const suggestedQuestionsQuery = (key: ProjectKey, { buildId, manifest }: Offered) =>
  queryOptions({
    queryKey: [...chatQueryKey(key), "suggestions", buildId],
    queryFn: ({ signal }): Promise<readonly string[]> =>
      generateSuggestedQuestions({ data: { ...key, manifest }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** Reads the questions that are known without a model, which the page doesn't wait for. */
export async function loadKnownQuestions(queryClient: QueryClient, key: ProjectKey, offered: Offered): Promise<void> {
  const questions = await getKnownQuestions({ data: { ...key, manifest: offered.manifest } });
  if (questions) queryClient.setQueryData(suggestedQuestionsQuery(key, offered).queryKey, questions);
}
