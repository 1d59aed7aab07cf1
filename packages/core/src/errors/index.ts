export { asTowpathError, type ErrorCode, errorCodes, type FieldProblems, notFound, TowpathError } from "./errors.ts";
