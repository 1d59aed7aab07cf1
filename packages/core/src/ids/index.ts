import { v7 } from "uuid";

/**
 * A UUIDv7 (RFC 9562, section 5.7). Later ids sort after earlier ones, so they need no second column for a stable
 * order.
 */
export const newId = (): string => v7();
