import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SourceView } from "@towpath/core/sources/source";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Form } from "~/ui/form.tsx";
import { changeSource } from "./source.functions.ts";

/** `source`: the server's current source. */
export type ChangeProps = { readonly projectKey: ProjectKey; readonly source: SourceView };

type Change = Omit<Parameters<typeof changeSource>[0]["data"], keyof ProjectKey>;

type ChangeFormProps = {
  readonly source: SourceView;
  readonly change: Change | null;
  readonly form: ReturnType<typeof useChangeSource>;
  readonly shownFields?: readonly string[];
  readonly children: ReactNode;
};

/**
 * A form that explains a change of the source and makes it. `change`: null until something is chosen. `shownFields`:
 * fields whose problems the children show themselves.
 */
export function ChangeForm({ source, change, form, shownFields = [], children }: ChangeFormProps) {
  const { problems, busy, submit } = form;
  const failure = Object.entries(problems).find(([field]) => !shownFields.includes(field))?.[1] ?? null;
  const isToPackage = change?.package !== undefined;
  return (
    <Form
      aria-label="Change source"
      className="flex flex-col gap-4"
      onSubmit={() => {
        if (change !== null) void submit(change);
      }}
    >
      {children}
      {change === null ? null : (
        <>
          <Callout tone="info" title="What happens">
            {isToPackage ? "That version" : "The newest commit there"} is built now, and goes live if that succeeds.
            Name, address, variables, settings, logs and deployments stay. Previews{" "}
            {source.kind === "package" ? "" : "of the old repository "}end
            {source.kind === "git" ? ", and its credential and webhook secret are removed here" : ""}.
            {isToPackage && source.kind !== "package"
              ? " Settings that name files of the repository are cleared: entrypoint file, requirements file, root directory and watch paths."
              : ""}
          </Callout>
          <Failure title="The source was not changed">{failure}</Failure>
          <Button type="submit" variant="primary" busy={busy} className="self-start">
            Change source and build
          </Button>
        </>
      )}
    </Form>
  );
}

/** Changes the source, and opens the build that this starts. */
export function useChangeSource(projectKey: ProjectKey) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { problems, busy, run, clear } = useSubmit();
  return {
    problems,
    busy,
    clear,
    submit: (change: Change) =>
      run(async () => {
        const { buildId } = await changeSource({ data: { ...projectKey, ...change } });
        void queryClient.invalidateQueries();
        await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...projectKey, buildId } });
      }),
  };
}
