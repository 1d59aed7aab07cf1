import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FilesView } from "@towpath/core/sources/files/schema";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Callout, NotLoaded } from "~/ui/callout.tsx";
import { fixQuery } from "./code.functions.ts";
import { fileOf, withText } from "./draft.ts";
import { fixTitle } from "./fix-title.ts";
import type { PendingCommit } from "./pending-commit.ts";
import type { DraftState } from "./use-draft.ts";

type Given = {
  readonly project: ProjectKey;
  readonly view: FilesView;
  /** The failed build; undefined: nothing is to be fixed. */
  readonly buildId: string | undefined;
  readonly state: DraftState;
  readonly onReady: (start: Partial<PendingCommit>) => void;
};

/** Makes the change that ends the failure of a build among the person's own, and asks for its commit. Returns what to say. */
export function useFix({ project, view, buildId, state, onReady }: Given): ReactNode {
  const navigate = useNavigate({ from: "/$orgSlug/$projectName/code" });
  const [refused, setRefused] = useState<ReactNode>(null);
  const at = { branch: view.branch, sha: view.commit.sha };
  const isAsked = buildId !== undefined && state.isRead;
  const { data: build, error: buildError } = useQuery({ ...buildQuery(project, buildId ?? ""), enabled: isAsked });
  const fixed = useQuery({ ...fixQuery(project, at, buildId ?? ""), enabled: isAsked });
  const action = build?.diagnosis?.action;
  const change = action?.kind === "code" ? action.change : undefined;
  const isReady = isAsked && build !== undefined && fixed.data !== undefined;
  const done = useRef<string>(undefined);
  useEffect(() => {
    if (!isReady || done.current === buildId) return;
    done.current = buildId;
    const files = fixed.data ?? [];
    const [first] = files;
    const own = files.find(({ path }) => fileOf(state.draft, path) !== undefined);
    if (change !== undefined && first !== undefined && own === undefined) {
      state.change((now) => files.reduce((draft, { path, text, base }) => withText(draft, path, text, base), now));
      onReady({ message: fixTitle(change) });
    } else {
      setRefused(own ? <OwnChange path={own.path} /> : <NothingToFix branch={view.branch} file={change?.file} />);
    }
    const file = first?.path ?? change?.file;
    void navigate({
      search: ({ fix: _done, ...rest }) => ({ ...rest, branch: view.branch, file: file ?? rest.file }),
      replace: true,
      resetScroll: false,
    });
  }, [isReady, buildId, fixed.data, change, state, onReady, navigate, view.branch]);
  const error = buildError ?? fixed.error;
  if (isAsked && error) return <NotLoaded what="the change for this build" error={error} retry={fixed.refetch} />;
  return refused;
}

const OwnChange = ({ path }: { readonly path: string }) => (
  <Callout tone="warn" title={`You changed ${path} already`}>
    Commit or discard that first, or make the change there yourself.
  </Callout>
);

const NothingToFix = ({ branch, file }: { readonly branch: string; readonly file: string | undefined }) => (
  <Callout title="There is nothing to change by itself">
    {branch} may have the change already{file !== undefined && `, or ${file} lists requirements in a way of its own`}.
    Build its newest commit, or edit the file here.
  </Callout>
);
