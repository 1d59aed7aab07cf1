import type { Permission } from "../authorize/index.ts";
import type { Role } from "../context/index.ts";

export type OrganizationView = { readonly id: string; readonly slug: string; readonly name: string };

export type OrganizationAccessView = OrganizationView & {
  readonly role: Role;
  readonly permissions: readonly Permission[];
};

/** The specification's Profile: what the screens must know of the signed-in user. */
export type ProfileView = {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** First and last name joined, else the part of the e-mail before `@` (AUTH-10). */
  readonly displayName: string;
  readonly profilePictureUrl: string | null;
  readonly githubUserId: number | null;
  readonly organizations: readonly (OrganizationView & { readonly role: Role })[];
  readonly githubInstallations: readonly {
    readonly installationId: number;
    readonly organizationId: string;
    readonly accountLogin: string;
  }[];
  readonly projects: readonly { readonly id: string; readonly name: string; readonly orgSlug: string }[];
};
