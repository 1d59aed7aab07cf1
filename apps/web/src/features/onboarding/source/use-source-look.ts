import { useQuery } from "@tanstack/react-query";
import type { GitCredentialInput } from "@towpath/core/sources/source/schema";
import { parseSourceText, type SourceText } from "@towpath/core/sources/source/text/schema";
import { useEffect, useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import { lookAtSource } from "./source.functions.ts";
import { kindFor, useCredential } from "./use-credential.ts";

/** Pause in typing before the host is asked, milliseconds. A pasted URL is asked at once. */
const typingMs = 600;
const freshMs = 60_000;

export type FoundSource = Awaited<ReturnType<typeof lookAtSource>>;

/** A given credential, for one host only. `attempt` represents it in query keys. */
type Given = { readonly value: GitCredentialInput; readonly host: string; readonly attempt: number };

/** State of a pasted source (SRC-2): the field, the branch, the credential, and the found repository. */
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
  // Must not be sent to another host.
  const sent = given !== null && url !== null && new URL(url).host === given.host ? given : null;
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["source-look", orgSlug, url, text.trim(), branch, sent?.attempt ?? null],
    queryFn: ({ signal }) =>
      lookAtSource({ data: { orgSlug, text: asked, branch, credential: sent?.value ?? null }, signal }),
    enabled: isSettled && url !== null,
    staleTime: freshMs,
    retry: false,
    refetchOnWindowFocus: false,
    // Keep the form for another branch of the same repository.
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
    /** The text's own problem. */
    problem: isSettled && text.trim() !== "" && "problem" in parsed ? parsed.problem : null,
    credential,
    /** The repository's credential; null: none. */
    sentCredential: sent?.value ?? null,
    sendCredential: () => {
      const value = url === null ? null : credential.valueOf(kindFor(url, credential.kind));
      if (value === null || url === null) return;
      setAsked(text);
      setGiven({ value, host: new URL(url).host, attempt: Date.now() });
    },
  };
}

/** Why nothing was found, by the kind of cure. */
function failureOf(error: unknown, hadCredential: boolean) {
  const fields: Readonly<Record<string, string>> = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
  const { credential = null, text = null, branch = null } = fields;
  return {
    message: text ?? branch ?? credential ?? failureText(error),
    /** It is the credential that is wrong, not the text. */
    isCredentials: text === null && branch === null && credential !== null,
    /** The chosen branch doesn't exist. */
    lacksBranch: branch !== null,
    /** A sign-in may help. */
    needsCredential: credential !== null || (hadCredential && branch === null),
    canRetry: Object.keys(fields).length === 0,
  };
}
