import { useState } from "react";
import { TextField } from "~/ui/field.tsx";
import type { Calls } from "../calls/use-calls.ts";

/** Kept while the page is open, for all calls. */
export function AuthorizationField({ calls }: { calls: Calls }) {
  const [value, setValue] = useState(calls.authorization.current);
  return (
    <TextField
      fieldClassName="mt-4"
      label="Authorization header"
      hint="This server authenticates callers itself. The header is sent with each call and never stored."
      optional
      mono
      type="password"
      autoComplete="off"
      placeholder="Bearer …"
      value={value}
      onChange={(next) => {
        setValue(next);
        calls.authorization.current = next;
      }}
    />
  );
}
