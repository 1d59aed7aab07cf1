import { useState } from "react";
import { TextField } from "~/ui/field.tsx";
import { SelectField } from "~/ui/select.tsx";

const kinds = [
  { value: "none", label: "None" },
  { value: "bearer", label: "Bearer token" },
  { value: "header", label: "Header" },
] as const;
type Kind = (typeof kinds)[number]["value"];

export type CredentialInput = { readonly header: string; readonly value: string } | null;

/** State of the credential that an external server gets. */
export function useCredential(initial: Kind = "none") {
  const [kind, setKind] = useState<Kind>(initial);
  const [header, setHeader] = useState("");
  const [value, setValue] = useState("");
  /** The credential for the server functions. Adds the scheme to a token without one. */
  const credential = (): CredentialInput => {
    if (kind === "none") return null;
    if (kind === "header") return { header, value };
    return {
      header: "authorization",
      value: value.trim() === "" ? "" : `Bearer ${value.trim().replace(/^bearer /i, "")}`,
    };
  };
  return { kind, setKind, header, setHeader, value, setValue, credential };
}

/** The credential that Towpath sends to the server: none, a bearer token, or any header. */
export function CredentialFields({
  fields: { kind, setKind, header, setHeader, value, setValue },
  problems,
  disabled = false,
}: {
  readonly fields: ReturnType<typeof useCredential>;
  /** The server's errors, by field. */
  readonly problems: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-[11rem_minmax(0,1fr)]">
      <SelectField
        label="Credential"
        error={problems.credential}
        value={kind}
        onChange={setKind}
        options={kinds}
        disabled={disabled}
        className="w-full"
      />
      <div className="flex flex-col gap-3">
        {kind === "header" ? (
          <TextField
            label="Header"
            error={problems["credential.header"]}
            mono
            autoComplete="off"
            spellCheck={false}
            placeholder="X-API-Key"
            value={header}
            disabled={disabled}
            onChange={setHeader}
          />
        ) : null}
        {kind === "none" ? (
          <p className="text-xs text-muted sm:mt-7.5">
            For servers that are open to anyone, or reachable only from your network.
          </p>
        ) : (
          <TextField
            label={kind === "bearer" ? "Token" : "Value"}
            error={problems["credential.value"]}
            hint="Stored encrypted and sent to this server only. It is never shown again."
            mono
            type="password"
            autoComplete="off"
            value={value}
            disabled={disabled}
            onChange={setValue}
          />
        )}
      </div>
    </div>
  );
}
