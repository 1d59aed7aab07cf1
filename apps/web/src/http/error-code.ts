import { type ErrorCode, TowpathError } from "@towpath/core/errors";

/** Whether something thrown is the domain's error of this code. Works in the browser too. */
export const isTowpathErrorCode = (error: unknown, code: ErrorCode): error is TowpathError =>
  error instanceof TowpathError && error.code === code;
