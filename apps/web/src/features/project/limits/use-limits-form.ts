import { useQueryClient } from "@tanstack/react-query";
import type { CallLimitView } from "@towpath/core/calling/call-limit";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { limitsQuery, saveLimits } from "./limits.functions.ts";

export type Subject = "caller" | "server";
type Rate = NonNullable<CallLimitView[Subject]>;
/** As typed. */
type RateText = { readonly perMinute: string; readonly burst: string };
/** Null: as many as the instance allows. */
type Draft = { readonly [subject in Subject]: RateText | null };

/** Initial values when a limit is switched on. */
const proposed: Readonly<Record<Subject, RateText>> = {
  caller: { perMinute: "60", burst: "20" },
  server: { perMinute: "600", burst: "100" },
};

/** State of the form: input and the result of saving. */
export function useLimitsForm(projectKey: ProjectKey, stored: CallLimitView) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ caller: textOf(stored.caller), server: textOf(stored.server) });
  const [savedDraft, setSavedDraft] = useState(draft);
  const [revision, setRevision] = useState(stored.revision);
  const { problems, failure, busy, run, clear } = useSubmit();
  const [isSaved, setSaved] = useState(false);

  const change = (subject: Subject, to: RateText | null) => {
    setDraft((before) => ({ ...before, [subject]: to }));
    clear();
    setSaved(false);
  };
  const submit = async () => {
    setSaved(false);
    await run(async () => {
      const limits = { caller: rateOf(draft.caller), server: rateOf(draft.server) };
      const saved = await saveLimits({ data: { ...projectKey, revision, ...limits } });
      queryClient.setQueryData(limitsQuery(projectKey).queryKey, saved);
      setRevision(saved.revision);
      setSavedDraft(draft);
      setSaved(true);
    });
  };
  return {
    draft,
    change,
    submit,
    problems,
    failure,
    busy,
    isSaved,
    isChanged: JSON.stringify(draft) !== JSON.stringify(savedDraft),
    /** Switches between the instance's limit and the server's own. */
    choose: (subject: Subject, isOwn: boolean) => change(subject, isOwn ? proposed[subject] : null),
  };
}

export type LimitsForm = ReturnType<typeof useLimitsForm>;

const textOf = (rate: Rate | null): RateText | null =>
  rate && { perMinute: String(rate.perMinute), burst: String(rate.burst) };

/** Input that isn't a number becomes one that the server refuses with a text. */
const rateOf = (text: RateText | null): Rate | null =>
  text && { perMinute: Number(text.perMinute.trim() || "0"), burst: Number(text.burst.trim() || "0") };
