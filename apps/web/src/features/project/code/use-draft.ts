import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { FilesView } from "@towpath/core/sources/files/schema";
import { useCallback, useEffect, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { currentAuthQuery } from "~/features/shared/session/session.functions.ts";
import { failureText, toast } from "~/ui/toast.ts";
import { fileQuery } from "./code.functions.ts";
import { type Draft, emptyDraft, isEmpty, parseDraft, rebased, withText } from "./draft.ts";

/** Of one person: somebody else may sign in on the same tab. */
const storageKey = (userId: string, { orgSlug, projectName }: ProjectKey, branch: string) =>
  `towpath:code:${userId}:${orgSlug}/${projectName}:${branch}`;

const storage = {
  read(key: string): string | null {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  },
  write(key: string, draft: Draft): void {
    try {
      if (isEmpty(draft)) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(draft));
    } catch {
      // Without storage, or with too large a text for it, a reload loses the changes; the page asks before.
    }
  },
};

export type DraftState = {
  readonly userId: string;
  readonly draft: Draft;
  /** Another one after each change that isn't typed. */
  readonly revision: number;
  /** Whether what an earlier page kept was read. */
  readonly isRead: boolean;
  type(path: string, text: string, base: string | null): void;
  change(next: (draft: Draft) => Draft): void;
};

/**
 * What the person changes in the branch that `view` shows. A tab keeps it over reloads; what it is made on is compared
 * with the head of `view`.
 */
export function useDraft(project: ProjectKey, view: FilesView): DraftState {
  const queryClient = useQueryClient();
  const { data: auth } = useSuspenseQuery(currentAuthQuery);
  const { branch, commit, paths } = view;
  const userId = auth?.user.id ?? "";
  const key = storageKey(userId, project, branch);
  const [state, setState] = useState({ stored: emptyDraft(commit.sha), revision: 0, isRead: false });
  const draft = isEmpty(state.stored) ? emptyDraft(commit.sha) : state.stored;
  const set = useCallback(
    (next: (draft: Draft) => Draft, isTyped: boolean) =>
      setState(({ stored, revision, ...rest }) => {
        const before = isEmpty(stored) ? emptyDraft(commit.sha) : stored;
        return { ...rest, stored: next(before), revision: isTyped ? revision : revision + 1 };
      }),
    [commit.sha],
  );

  // Not during the first render, which must be that of the server.
  useEffect(() => {
    const found = parseDraft(storage.read(key));
    setState(({ stored, revision }) => ({ stored: found ?? stored, revision: revision + 1, isRead: true }));
  }, [key]);
  useEffect(() => {
    if (state.isRead) storage.write(key, state.stored);
  }, [key, state]);

  const isBehind = state.isRead && draft.head !== commit.sha;
  useEffect(() => {
    if (!isBehind) return;
    let isCurrent = true;
    const texts = Object.keys(draft.files).map(async (path) => {
      if (!paths.includes(path)) return [path, null] as const;
      const { text } = await queryClient.fetchQuery(fileQuery(project, { branch, sha: commit.sha }, path));
      return [path, text] as const;
    });
    Promise.all(texts).then(
      (newest) => {
        if (isCurrent) set((before) => rebased(before, commit.sha, Object.fromEntries(newest)), false);
      },
      (error: unknown) =>
        toast.error("Your changes couldn't be compared with the newest commit.", { description: failureText(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [isBehind, draft.files, project, branch, commit.sha, paths, queryClient, set]);

  return {
    userId,
    draft,
    revision: state.revision,
    isRead: state.isRead,
    type: useCallback((path, text, base) => set((before) => withText(before, path, text, base), true), [set]),
    change: useCallback((next) => set(next, false), [set]),
  };
}
