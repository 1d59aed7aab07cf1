/** Notified by the database whenever a build's status changes; the payload is the build's id. */
export const buildChannel = "towpath_build";
