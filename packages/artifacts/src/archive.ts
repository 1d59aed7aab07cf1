import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { ArtifactError } from "./port.ts";

const program = ["/usr/bin/tar", "/bin/tar"].find((path) => existsSync(path)) ?? "/usr/bin/tar";

/** The same tree gives the same archive: entries in order, without times and owners. */
const packArguments = [
  "--create",
  "--format=posix",
  "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime",
  "--sort=name",
  "--mtime=@0",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  // Unpacked, set-user-id programs of a build would run as the platform's user.
  "--mode=u-s,g-s",
  "--hard-dereference",
  "--no-xattrs",
  "--no-acls",
  "--no-selinux",
];

/**
 * Packs a directory, which nothing may change meanwhile, into a compressed archive (tar, zstd). Keeps links.
 * @param maxBytes of the archive before compression; counts the apparent size of sparse files
 * @returns the digest of the archive
 * @throws ArtifactError `too_large`, `archive_failed`
 */
export async function packDirectory(directory: string, file: string, maxBytes: number): Promise<string> {
  const tar = run([...packArguments, "--directory", directory, "--", "."], ["ignore", "pipe", "pipe"]);
  const hash = createHash("sha256");
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return done(null, chunk);
      done(new ArtifactError("too_large", `It is larger than ${Math.round(maxBytes / 1024 / 1024)} MB.`));
    },
  });
  const digest = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await finished(tar, pipeline(tar.stdout, limit, createZstdCompress(), digest, createWriteStream(file)));
  return hash.digest("hex");
}

/**
 * Unpacks an archive, whose digest must have been checked, into an existing directory.
 * @throws ArtifactError `archive_failed`
 */
export async function unpackArchive(file: string, directory: string): Promise<void> {
  const argv = ["--extract", "--preserve-permissions", "--no-same-owner", "--directory", directory];
  const tar = run(argv, ["pipe", "ignore", "pipe"]);
  await finished(tar, pipeline(createReadStream(file), createZstdDecompress(), tar.stdin).catch(unlessEndedEarly));
}

/** tar stops reading at the archive's end mark, before the padding; its exit status reports real failures. */
function unlessEndedEarly(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE" && error.code !== "EPIPE") throw error;
}

type Tar = ReturnType<typeof run>;

function run(argv: readonly string[], stdio: ["ignore" | "pipe", "ignore" | "pipe", "pipe"]) {
  const child = spawn(program, argv, { stdio, env: { LC_ALL: "C" } });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (stderr.length < 2000) stderr += chunk.toString("utf8");
  });
  const exited = new Promise<void>((resolve, reject) => {
    const fail = (text: string) => reject(new ArtifactError("archive_failed", `tar failed: ${text}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => (code === 0 ? resolve() : fail(stderr.trim() || `status ${code}`)));
  });
  const { stdin, stdout } = child;
  return { stdin: stdin as NonNullable<typeof stdin>, stdout: stdout as NonNullable<typeof stdout>, exited, child };
}

/** Waits for tar and the transfer; kills tar if the transfer fails. An error from tar explains the most. */
async function finished({ exited, child }: Tar, data: Promise<void>): Promise<void> {
  const moved = data.catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const [program, bytes] = await Promise.allSettled([exited, moved]);
  if (bytes.status === "rejected" && bytes.reason instanceof ArtifactError) throw bytes.reason;
  if (program.status === "rejected") throw program.reason;
  if (bytes.status === "rejected") throw bytes.reason;
}
