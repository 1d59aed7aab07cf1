import { expect, test } from "vitest";
import { activeOrganization, homeDestination, inOrganization } from "./destinations.ts";

const acme = { id: "1", slug: "acme", name: "Acme", externalId: "1", pictureUrl: null, role: "owner" } as const;
const beta = { id: "2", slug: "beta", name: "Beta", externalId: "2", pictureUrl: null, role: "member" } as const;
const installation = { installationId: 7, organizationId: "1", accountLogin: "acme" };
const project = (orgSlug: string) => ({ id: `p-${orgSlug}`, name: `echo-${orgSlug}`, orgSlug });

test("PUB-5 a signed-in user is redirected by progress, in the specified order", () => {
  const nothing = { organizations: [], githubInstallations: [], projects: [] };
  expect(homeDestination({ ...nothing, githubInstallations: [installation], projects: [project("acme")] }, null)).toBe(
    "/welcome/create-organization",
  );
  const organizations = [acme, beta];
  expect(homeDestination({ ...nothing, organizations, projects: [project("acme")] }, null)).toBe(
    "/acme/welcome/connect-github?success=false",
  );
  expect(homeDestination({ ...nothing, organizations }, "2")).toBe("/beta/welcome/connect-github?success=false");
  const connected = { organizations, githubInstallations: [installation], projects: [] };
  expect(homeDestination(connected, "2")).toBe("/beta/welcome/server-setup");
});

test("PUB-5 with projects: the session's organization, else that of the first project, else choosing a repository", () => {
  const base = { organizations: [acme, beta], githubInstallations: [installation] };
  expect(homeDestination({ ...base, projects: [project("beta"), project("acme")] }, "1")).toBe("/acme");
  expect(homeDestination({ ...base, projects: [project("beta"), project("acme")] }, null)).toBe("/beta");
  expect(homeDestination({ ...base, projects: [project("beta")] }, "1")).toBe("/acme/welcome/choose-repo");
  expect(homeDestination({ ...base, projects: [project("beta")] }, "unknown")).toBe("/beta");
});

test("AUTH-5 the active organization is the session's, else the first", () => {
  expect(activeOrganization([acme, beta], "2")).toBe(beta);
  expect(activeOrganization([acme, beta], "gone")).toBe(acme);
  expect(activeOrganization([acme, beta], null)).toBe(acme);
  expect(activeOrganization([], "1")).toBeNull();
});

test("AUTH-8 only the first path segment changes", () => {
  expect(inOrganization("/beta/servers?text=a%2Fb#x", "acme")).toBe("/acme/servers?text=a%2Fb#x");
  expect(inOrganization("/beta", "acme")).toBe("/acme");
  expect(inOrganization("/beta?x=/y", "acme")).toBe("/acme?x=/y");
});
