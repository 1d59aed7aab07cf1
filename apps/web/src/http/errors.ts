import { createSerializationAdapter } from "@tanstack/react-router";
import { type ErrorCode, type FieldProblems, TowpathError } from "@towpath/core/errors";

/** Carries a TowpathError across server functions and hydration: only its public parts, never `detail` or `cause`. */
export const errorAdapter = createSerializationAdapter({
  key: "towpath-error",
  test: (value): value is TowpathError => value instanceof TowpathError,
  toSerializable: (error) => ({ code: error.code as string, message: error.message, fields: { ...error.fields } }),
  fromSerializable: ({ code, message, fields }: { code: string; message: string; fields: Record<string, string> }) =>
    new TowpathError(code as ErrorCode, message, { fields: fields as FieldProblems }),
});

/** Whether a thrown value is a TowpathError with this code. */
export const isTowpathErrorCode = (error: unknown, code: ErrorCode): error is TowpathError =>
  error instanceof TowpathError && error.code === code;
