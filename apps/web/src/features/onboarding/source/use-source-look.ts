import { useQuery } from "@tanstack/react-query";
import type { GitCredentialInput } from "@towpath/core/source/schema";
import { parseSourceText, type SourceText } from "@towpath/core/source/text/schema";
import { useEffect, useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { lookAtSource } from "./source.functions.ts";
import { kindFor, useCredential } from "./use-credential.ts";

/** So long after the last key the host is asked, milliseconds. What is pasted is asked for at once. */
const typingMs = 600;
const freshMs = 60_000;

export type FoundSource = Awaited<ReturnType<typeof lookAtSource>>;

/** A credential that was given, for one host only. `attempt` stands for it in keys. */
type Given = { readonly value: GitCredentialInput; readonly host: string; readonly attempt: number };

/** What was pasted, and what is there (SRC-2): state of the field, of the branch, and of the credential. */
export function useSourceLook(orgSlug: string, initial: { readonly text: string; readonly branch: string | null }) {
  const [text, setText] = useState(initial.text);
  const [asked, setAsked] = useState(initial.text);
  const [branch, setBranch] = useState(initial.branch);
  const [given, setGiven] = useState<Given | null>(null);
  const credential = useCredential(orgSlug);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  const parsed = parseSourceText(text);
  const source: SourceText | null = "source" in parsed ? parsed.source : null;
  const isSettled = asked === text;
  const url = source?.kind === "git" ? source.url : null;
  // It must not reach another host.
  const sent = given !== null && url !== null && new URL(url).host === given.host ? given : null;
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["source-look", orgSlug, url, text.trim(), branch, sent?.attempt ?? null],
    queryFn: ({ signal }) =>
      lookAtSource({ data: { orgSlug, text: asked, branch, credential: sent?.value ?? null }, signal }),
    enabled: isSettled && url !== null,
    staleTime: freshMs,
    retry: false,
    refetchOnWindowFocus: false,
    // Another branch of the same repository: the form stays.
    placeholderData: (before, query) => (query?.queryKey[3] === text.trim() ? before : undefined),
  });
  const found = url !== null && isSettled && !error ? data : undefined;
  return {
    text,
    /** `now`: don't wait for more. */
    setText: (next: string, now: boolean) => {
      if (next !== text) setBranch(null);
      setText(next);
      if (now) setAsked(next);
    },
    source,
    url,
    branch,
    setBranch,
    found,
    isLooking: isFetching && isSettled && url !== null,
    failure: isSettled && url !== null && error && !isFetching ? failureOf(error, sent !== null) : null,
    lookAgain: () => {
      setAsked(text);
      void refetch();
    },
    /** What is wrong with the text itself. */
    problem: isSettled && text.trim() !== "" && "problem" in parsed ? parsed.problem : null,
    credential,
    /** What the repository is read with; null: nothing. */
    sentCredential: sent?.value ?? null,
    sendCredential: () => {
      const value = url === null ? null : credential.valueOf(kindFor(url, credential.kind));
      if (value === null || url === null) return;
      setAsked(text);
      setGiven({ value, host: new URL(url).host, attempt: Date.now() });
    },
  };
}

/** Why nothing was found, by what can cure it. */
function failureOf(error: unknown, hadCredential: boolean) {
  const fields: Readonly<Record<string, string>> = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
  const { credential = null, text = null, branch = null } = fields;
  return {
    message: text ?? branch ?? credential ?? failureText(error),
    /** It is the credential that is wrong, not the text. */
    isCredentials: text === null && branch === null && credential !== null,
    /** The chosen branch isn't there. */
    lacksBranch: branch !== null,
    /** A sign-in may help. */
    needsCredential: credential !== null || (hadCredential && branch === null),
    canRetry: Object.keys(fields).length === 0,
  };
}
