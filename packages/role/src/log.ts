import { type Logger, type LoggerOptions, pino } from "pino";

/**
 * The log of a process: one JSON object a line on stdout, with its role. Lines are written at once, so that the last
 * ones before a crash are there, and a process whose reader is gone ends. pino's own default writes later, and repeats
 * the rest at the exit for as long as that fails with EPIPE: forever.
 */
export function openLog(level: string, base: LoggerOptions["base"] & { readonly role: string }): Logger {
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 1, sync: true }));
}
