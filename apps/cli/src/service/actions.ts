export const serviceActions = ["install", "status", "logs", "uninstall"] as const;

export type ServiceAction = (typeof serviceActions)[number];
