/** More than any id at GitHub; 8,191 connections stay below the largest safe integer. */
const perConnection = 2 ** 40;

/** The connection that the environment's settings name. */
export const environmentConnection = 0;

/**
 * Towpath's number of an installation, repository or user at a GitHub connection: two hosts use the same ids (decision
 * 054). At the environment's connection it is the id itself.
 *
 * @throws RangeError for what is no id
 */
export function numberOf(connection: number, id: number): number {
  if (Number.isSafeInteger(id) && id >= 0 && id < perConnection) return connection * perConnection + id;
  throw new RangeError(`${id} is not an id of GitHub`);
}

/** The inverse of `numberOf`. */
export const atHost = (number: number): { readonly connection: number; readonly id: number } => ({
  connection: Math.floor(number / perConnection),
  id: number % perConnection,
});

/** The first number of a connection, and the first of the next. */
export const numbersOf = (connection: number): { readonly from: number; readonly below: number } => ({
  from: connection * perConnection,
  below: (connection + 1) * perConnection,
});
