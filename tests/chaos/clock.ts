import { chmod, glob, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Shifts the clock of an instance's roles. */
export type Clock = {
  /** Roles that start from now on have a clock that `set` moves. */
  install(): Promise<void>;
  /** Seconds that their clocks are ahead; negative: behind. Takes a second or two to reach them. */
  set(seconds: number): Promise<void>;
  /** Roles that start from now on have the machine's clock. */
  remove(): Promise<void>;
};

const roles = ["gateway", "runner", "worker"].map((role) => `*/apps/${role}/src/main.ts*`);

async function findLibrary(): Promise<string | null> {
  const named = process.env.TOWPATH_CHAOS_FAKETIME;
  if (named) return named;
  for await (const path of glob("/usr/lib/*/faketime/libfaketimeMT.so.1")) return path;
  return null;
}

/**
 * The launcher starts roles through `setpriv`. A wrapper earlier on the PATH preloads libfaketime into roles that have
 * a file for it. Everything else, sandboxes too, gets the original PATH. Null without libfaketime (a Debian package).
 */
export async function prepareClock(
  directory: string,
): Promise<{ readonly path: string; readonly clock: Clock } | null> {
  const library = await findLibrary();
  if (library === null) return null;
  const [bin, file] = [join(directory, "bin"), join(directory, "clock")];
  await mkdir(bin, { recursive: true });
  const path = process.env.PATH ?? "";
  await writeFile(
    join(bin, "setpriv"),
    `#!/bin/sh
PATH='${path}'
export PATH
if [ -e '${file}' ]; then
  case "$*" in
    ${roles.join("|")})
      export LD_PRELOAD='${library}' FAKETIME_TIMESTAMP_FILE='${file}' FAKETIME_CACHE_DURATION=1
      # Timers go by the monotonic clock, which no change of the time moves.
      export FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1
      ;;
  esac
fi
exec setpriv "$@"
`,
  );
  await chmod(join(bin, "setpriv"), 0o755);
  const set = (seconds: number) => writeFile(file, seconds < 0 ? `${seconds}\n` : `+${seconds}\n`);
  return {
    path: `${bin}:${path}`,
    clock: { install: () => set(0), set, remove: () => rm(file, { force: true }) },
  };
}
