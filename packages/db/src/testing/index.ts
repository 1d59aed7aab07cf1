export { createTestDatabase, migrateAnewTo, type TestDatabase } from "./test-database.ts";
