export { type AdminJwtView, clearAdminJwtCache, getAdminJwt, getAdminJwtCacheStats } from "./admin-jwts.ts";
