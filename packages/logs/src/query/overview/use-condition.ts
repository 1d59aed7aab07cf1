/** Methods that use a server's items. Others, such as handshakes and lists, don't count as use. */
const methods = ["tools/call", "resources/read", "prompts/get", "completion/complete"];

/**
 * Condition on the columns of a series: the message counts as a call in overviews. Failures of every method count,
 * because a server that doesn't start fails at its handshake; calls that the gateway refused never count.
 */
export const isUse = (alias: string): string =>
  `(${alias}.class = 1 OR (${alias}.class = 0 AND (${alias}.is_overflow OR ${alias}.method IN (${methods.map((method) => `'${method}'`).join(", ")}))))`;
