import { formatCount } from "~/ui/figure.tsx";

/** What an upload may have: less than the instance takes, and what a browser packs within seconds. */
export const maxUploadBytes = 200_000_000;
export const maxUploadFiles = 20_000;

/** In words, for before anything is chosen. */
export const uploadLimits = `Up to ${maxUploadBytes / 1_000_000} MB and ${formatCount(maxUploadFiles)} files`;
