import { formatCount } from "~/ui/figure.tsx";

/** Maximum of an upload: less than the instance accepts, and packed by a browser within seconds. */
export const maxUploadBytes = 200_000_000;
export const maxUploadFiles = 20_000;

/** The limits as a text, shown before anything is chosen. */
export const uploadLimits = `Up to ${maxUploadBytes / 1_000_000} MB and ${formatCount(maxUploadFiles)} files`;
