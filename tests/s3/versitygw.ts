import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ArtifactsConfig, artifactsConfigSchema } from "@towpath/artifacts";
import { createBucketRequests } from "@towpath/artifacts/testing";
import { freePorts } from "@towpath/role/testing";
import { repositoryRoot } from "../instance/towpath-process.ts";

/** As the launcher has built it. */
const program = join(repositoryRoot, ".toolchain/s3/versitygw");

type Settings = Readonly<Record<string, string>>;

export type S3Service = {
  /** Settings of an instance that stores its artifacts there, in its own bucket. */
  readonly settings: Settings;
  /** Has the objects of a bucket as files below its name. */
  readonly directory: string;
  newBucket(name: string): Promise<void>;
  /** As if its machine hung: it answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Settings with the key of a user who may do these things in a bucket, such as s3:GetObject, and nothing else. */
  newUser(bucket: string, actions: readonly string[]): Promise<Settings>;
  stop(): Promise<void>;
};

/** Starts a versitygw, which serves a directory by S3's protocol at an address of this host; resolves once it answers. */
export async function startVersitygw(directory: string, address = "127.0.0.1"): Promise<S3Service> {
  const [port = 0] = await freePorts(1);
  const [accessKeyId, secretAccessKey] = ["ada", "correct horse battery staple"];
  const users = `${directory}-users`;
  for (const each of [directory, users]) await mkdir(each, { recursive: true });
  const argv = ["--access", accessKeyId, "--secret", secretAccessKey, "--port", `${address}:${port}`, "--keep-alive"];
  const child = spawn(program, [...argv, "--iam-dir", users, "--quiet", "posix", directory], {
    stdio: ["ignore", "pipe", "pipe"],
  });
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
  const settings = {
    TOWPATH_ARTIFACTS_ENDPOINT: endpoint,
    TOWPATH_ARTIFACTS_ACCESS_KEY_ID: accessKeyId,
    TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  let created = 0;
  return {
    directory,
    settings,
    newBucket: async (name) => void (await mkdir(join(directory, name))),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async newUser(bucket, actions) {
      const [access, secret] = [`user-${created++}`, "a secret of a user"];
      const admin = ["admin", "--access", accessKeyId, "--secret", secretAccessKey, "--endpoint-url", endpoint];
      const user = ["create-user", "--access", access, "--secret", secret, "--role", "user"];
      await promisify(execFile)(program, [...admin, ...user]);
      const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
      const allowed = actions.map((Action) => ({
        Effect: "Allow",
        Principal: access,
        Action,
        Resource: /Bucket/.test(Action) ? Resource[0] : Resource[1],
      }));
      const requests = createBucketRequests(bucketOf(`s3://${bucket}`, settings), "bucket");
      const policy = JSON.stringify({ Version: "2012-10-17", Statement: allowed });
      await requests.ask("PUT", requests.url("", { policy: "" }), { body: policy });
      return { ...settings, TOWPATH_ARTIFACTS_ACCESS_KEY_ID: access, TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: secret };
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}

/** The bucket that an instance with these settings would use. */
export function bucketOf(address: string, settings: Settings): NonNullable<ArtifactsConfig> {
  const config = artifactsConfigSchema.parse({ ...settings, TOWPATH_ARTIFACTS: address });
  if (config === null) throw new Error("the settings name no bucket");
  return config;
}
