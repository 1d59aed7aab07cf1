import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePorts } from "@towpath/role/testing";
import { repositoryRoot } from "../instance/towpath-process.ts";

/** As the launcher has built it. */
const program = join(repositoryRoot, ".toolchain/s3/versitygw");

export type S3Service = {
  /** Settings of an instance that stores its artifacts there, in its own bucket. */
  readonly settings: Readonly<Record<string, string>>;
  /** Has the objects of a bucket as files below its name. */
  readonly directory: string;
  newBucket(name: string): Promise<void>;
  /** As if its machine hung: it answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
};

/** Starts a versitygw, which serves a directory by S3's protocol at an address of this host; resolves once it answers. */
export async function startVersitygw(directory: string, address = "127.0.0.1"): Promise<S3Service> {
  const [port = 0] = await freePorts(1);
  const [accessKeyId, secretAccessKey] = ["ada", "correct horse battery staple"];
  await mkdir(directory, { recursive: true });
  const argv = ["--access", accessKeyId, "--secret", secretAccessKey, "--port", `${address}:${port}`, "--keep-alive"];
  const child = spawn(program, [...argv, "--quiet", "posix", directory], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    });
  const endpoint = `http://${address}:${port}`;
  while ((await fetch(endpoint).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`versitygw ended with status ${child.exitCode}:\n${output}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    directory,
    settings: {
      TOWPATH_ARTIFACTS_ENDPOINT: endpoint,
      TOWPATH_ARTIFACTS_ACCESS_KEY_ID: accessKeyId,
      TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    newBucket: async (name) => void (await mkdir(join(directory, name))),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}
