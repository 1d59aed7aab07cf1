/** The tables of sums, finest first. Each level's period is a multiple of the one before. */
export const rollupLevels = [
  { table: "request_log_minute", seconds: 60 },
  { table: "request_log_ten_minutes", seconds: 600 },
  { table: "request_log_hour", seconds: 3600 },
  { table: "request_log_half_day", seconds: 43_200 },
] as const;

/** Position in `rollupLevels`. */
export type RollupLevel = 0 | 1 | 2 | 3;
