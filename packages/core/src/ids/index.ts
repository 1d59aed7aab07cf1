import { v7 } from "uuid";

/**
 * A UUIDv7 (RFC 9562, section 5.7). Ids made later sort later, so they can serve as keys of lists without a second
 * column.
 */
export const newId = (): string => v7();
