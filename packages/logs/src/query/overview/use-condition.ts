/** Methods that use what a server offers. What else clients send, such as handshakes and lists, says nothing about use. */
const methods = ["tools/call", "resources/read", "prompts/get", "completion/complete"];

/**
 * Condition on the columns of a series: the message is a call as overviews count it. Failures of every method count, because
 * a server that doesn't start fails at its handshake; what the gateway refused counts nowhere.
 */
export const isUse = (alias: string): string =>
  `(${alias}.class = 1 OR (${alias}.class = 0 AND (${alias}.is_overflow OR ${alias}.method IN (${methods.map((method) => `'${method}'`).join(", ")}))))`;
