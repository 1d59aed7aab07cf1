export type InstallationView = {
  readonly installationId: number;
  readonly organizationId: string;
  readonly accountLogin: string;
  readonly accountType: string;
  readonly createdAt: string;
};
