import { createFileRoute } from "@tanstack/react-router";
import { ChatPage } from "~/features/inspector/chat/chat-page.tsx";
import { type ChatSearch, chatSearchParameters } from "~/features/inspector/chat/chat-search.ts";
import { chatQuery, chatSetupQuery, loadKnownQuestions } from "~/features/inspector/conversation/chat.functions.ts";
import { deploymentBuildQuery } from "~/features/inspector/inspector/inspector.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { chosenBranch } from "~/features/project/deployment/chosen-branch.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/chat")({
  validateSearch: chatSearchParameters,
  loaderDeps: ({ search: { q: _question, ...deps } }) => deps,
  loader: async ({ context: { queryClient }, params, deps }) => {
    const readBuild = async () => {
      const { branch } = chosenBranch(await queryClient.ensureQueryData(branchesQuery(params)), deps);
      if (!branch) return;
      const { id: buildId, manifest } = await queryClient.ensureQueryData(
        deploymentBuildQuery(params, branch.deployment.id),
      );
      // Within the app, the page asks by itself. If this fails, too.
      if (import.meta.env.SSR && manifest && !deps.chat)
        await loadKnownQuestions(queryClient, params, { buildId, manifest }).catch(() => {});
    };
    // Together, as the branches are known within the app.
    await Promise.all([
      readBuild(),
      queryClient.ensureQueryData(chatSetupQuery(params)),
      // The page reports an unknown chat.
      deps.chat ? queryClient.prefetchQuery(chatQuery(params, deps.chat)) : null,
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Chat · ${params.projectName} · Towpath` }] }),
  component: ChatRoute,
});

function ChatRoute() {
  const projectKey = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: Partial<ChatSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), resetScroll: false });
  return <ChatPage projectKey={projectKey} search={search} onSearch={change} />;
}
