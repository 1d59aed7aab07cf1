export type InstallationView = {
  readonly installationId: number;
  readonly organizationId: string;
  readonly accountLogin: string;
  readonly accountType: string;
  /** The account's owner has suspended the App: nothing can be read until they resume it. */
  readonly isSuspended: boolean;
  readonly createdAt: string;
};
