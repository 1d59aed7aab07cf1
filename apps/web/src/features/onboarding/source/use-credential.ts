import type { GitCredentialInput } from "@towpath/core/sources/source/schema";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { makeDeployKey } from "./source.functions.ts";

type CredentialKind = "token" | "deployKey";

export const takesTokens = (url: string): boolean => new URL(url).protocol !== "ssh:";

/** Which kind the URL can use. */
export const kindFor = (url: string, chosen: CredentialKind): CredentialKind =>
  takesTokens(url) ? chosen : "deployKey";

const noToken = { token: "", username: "", endsOn: "" };

/** State of the fields for a private repository. It stays in memory: never in the URL or in storage. */
export function useCredential(orgSlug: string) {
  const [kind, setKind] = useState<CredentialKind>("token");
  const [fields, setFields] = useState(noToken);
  const [key, setKey] = useState<{ readonly publicKey: string; readonly sealed: string } | null>(null);
  const making = useSubmit();
  return {
    kind,
    setKind,
    fields,
    change: (changed: Partial<typeof noToken>) => setFields((current) => ({ ...current, ...changed })),
    publicKey: key?.publicKey ?? null,
    making,
    makeKey: () => making.run(async () => setKey(await makeDeployKey({ data: { orgSlug } }))),
    /** The credential of the chosen kind; null until complete. */
    valueOf: (chosen: CredentialKind): GitCredentialInput | null => {
      if (chosen === "deployKey") return key && { kind: "deployKey", sealed: key.sealed };
      const { token, username, endsOn } = fields;
      if (token.trim() === "") return null;
      return { kind: "token", token, username, expiresAt: endOfDay(endsOn) };
    },
    clear: () => {
      setFields(noToken);
      setKey(null);
    },
  };
}

/** `2026-12-31` → the last second of that day, where the person is. */
function endOfDay(day: string): string | null {
  const end = new Date(`${day}T23:59:59`);
  return day === "" || Number.isNaN(end.getTime()) ? null : end.toISOString();
}
