import { failBuild, startBuild, takeBuild } from "@towpath/core/delivery/build";
import { newId } from "@towpath/core/ids";
import { sampleDiagnosis, seedProject, shaOf, succeedBuild, testContext } from "@towpath/core/testing";
import { auditLog, deployment } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();

test.runIf(isThorough)(
  "RUN-8 while the live version is lost, its home and the failed build show when it is rebuilt",
  async () => {
    const owner = await seededMember(site.url, site.db);
    const project = await seedProject(site.db, owner.organization);
    const ctx = testContext(site.db, owner.organization.owner);
    const key = { orgSlug: owner.organization.slug, projectName: project.name };
    const start = async (name: string) =>
      (await startBuild({ ctx, input: { ...key, commitSha: shaOf(name) } })).build.id;
    const live = await start("a");
    await succeedBuild(site.db, live);
    const [of] = await site.db.select().from(deployment).where(eq(deployment.buildId, live));
    const again = await start("b");
    const worker = testContext(site.db, { kind: "job", job: "build.run" });
    const taken = await takeBuild({ ctx: worker, input: { buildId: again } });
    await failBuild({
      ctx: worker,
      input: { buildId: again, attempt: taken?.attempt ?? 0, diagnosis: sampleDiagnosis },
    });
    // Three tries: the next one is four minutes after the last.
    await site.db.insert(auditLog).values(
      [1, 2, 3].map(() => ({
        id: newId(),
        organizationId: owner.organization.id,
        projectId: project.id,
        actor: "job:sweep",
        action: "build.rebuild",
        detail: { deployment: of?.id },
      })),
    );
    const page = await browser.signedInPage(site.url, owner);
    await page.goto(`${site.url}/${key.orgSlug}/${project.name}`);
    await page.getByText("The files of the live version were lost").waitFor();
    const next = page.getByText(/Building it again failed; the next try is in [34]m/);
    await next.waitFor();
    await page.getByText("Can't start", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Open build" }).click();
    await page.waitForURL(`**/build-logs/${again}`);
    await next.waitFor();
    expect(await page.getByText("Your live version is unaffected.").count()).toBe(0);
    await expectAccessible(page);
  },
);
