import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@towpath/core/ids";
import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { codeRepositories } from "../../apps/web/testing/code-repositories.ts";
import { seededMember } from "../../apps/web/testing/visitor.ts";
import { startWeb } from "../../apps/web/testing/web-process.ts";

export type SeededSite = {
  /** The site's origin. */
  readonly url: string;
  /** The ten main pages of a used server, and of one with code, by name. */
  readonly mainPages: Readonly<Record<string, string>>;
  /** Of a signed-in owner. */
  readonly cookie: { readonly name: string; readonly value: string };
};

/** Runs `measure` with a site of its own, whose database has a server with forty calls of a day and one with code. */
export async function withSeededSite<Result>(measure: (site: SeededSite) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  await migrateDatabase(postgres.url);
  const { db, pool, close } = openDatabase(postgres.url);
  const web = await startWeb({ databaseUrl: postgres.url });
  try {
    const owner = await seededMember(web.url, db);
    const cookie = owner.visitor.sessionCookie();
    if (!cookie) throw new Error("nobody is signed in");
    const manifest = sampleManifest();
    const project = await seedLiveProject(db, owner.organization, { name: "weather" }, { manifest });
    const calls = Array.from({ length: 40 }, (_, at) =>
      requestLogRow({
        projectId: project.id,
        id: newId(),
        time: Date.now() - (at + 1) * 1_800_000,
        target: `tool_${at % 4}`,
        ...(at % 10 === 0 && { isError: true, outcome: "tool_error", errorMessage: "No such station" }),
      }),
    );
    await writeRequestLogs(pool, calls);
    while ((await foldRequestLogs(pool)) > 0);
    const files = { "server.py": "import os\n", "README.md": "# Weather\n" };
    const code = await codeRepositories({ url: web.url, db }, owner, files);
    const { name: withCode } = await code.deploy("weather");
    await code.close();
    // No worker builds it here.
    await pool.query("UPDATE build SET status = 'canceled', ended_at = now() WHERE status = 'queued'");
    const organization = `/${owner.organization.slug}`;
    const own = ["surface", "sessions", "deployments", "logs", "settings", "chat", "inspector"];
    const mainPages = {
      servers: `${organization}/servers`,
      overview: `${organization}/weather`,
      ...Object.fromEntries(own.map((name) => [name, `${organization}/weather/${name}`])),
      code: `${organization}/${withCode}/code`,
    };
    return await measure({ url: web.url, mainPages, cookie });
  } finally {
    await web.stop();
    await close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
    await rm(web.dataDirectory, { recursive: true, force: true });
  }
}
