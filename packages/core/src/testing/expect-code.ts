import { type ErrorCode, TowpathError } from "../errors/index.ts";

/** The error that a promise fails with; a test that expects a refusal fails when there is none. */
export async function refusal(promise: Promise<unknown>): Promise<TowpathError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TowpathError) return error;
    throw error;
  }
  throw new Error("expected a refusal, and it was allowed");
}

/** Only the code of it. */
export const refusalCode = async (promise: Promise<unknown>): Promise<ErrorCode> => (await refusal(promise)).code;
