export { type Database, type DatabaseClient, openDatabase, type Transaction } from "./client.ts";
export { migrateDatabase } from "./migrate.ts";
