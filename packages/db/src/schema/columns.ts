import { type AnyPgColumn, customType, timestamp, uuid } from "drizzle-orm/pg-core";

/** A point in time, to the millisecond. */
export const instant = () => timestamp({ withTimezone: true, precision: 3 });

/** Bytes of a file. */
export const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** The id of what the row belongs to, with which it is deleted. */
export const ownedBy = (ownerId: () => AnyPgColumn) => uuid().notNull().references(ownerId, { onDelete: "cascade" });

/** The same as the row's key: an owner has at most one. */
export const keyedBy = (ownerId: () => AnyPgColumn) => uuid().primaryKey().references(ownerId, { onDelete: "cascade" });
