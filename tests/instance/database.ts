import { join } from "node:path";

/** Connection URL of an instance's embedded PostgreSQL. The data folder's path must be short enough for sockets. */
export const databaseUrlOf = (dataDirectory: string) =>
  `postgresql://towpath@/towpath?host=${encodeURIComponent(join(dataDirectory, "run", "postgres"))}&port=5432`;
