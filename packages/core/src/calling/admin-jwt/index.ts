export {
  type AdminJwtView,
  adminJwtSchema,
  clearAdminJwtCache,
  getAdminJwt,
  getAdminJwtCacheStats,
} from "./admin-jwts.ts";
