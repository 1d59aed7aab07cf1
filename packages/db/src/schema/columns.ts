import { timestamp } from "drizzle-orm/pg-core";

/** A point in time, to the millisecond. */
export const instant = () => timestamp({ withTimezone: true, precision: 3 });
