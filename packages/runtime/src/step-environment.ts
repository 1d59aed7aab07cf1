import { type BuildStep, buildImage, pythonPrefix } from "./port/builds.ts";

type Environment = Readonly<Record<string, string>>;

/**
 * The environment of build steps with any driver: the operator's settings for the index, and no secret, because steps run
 * code of package authors.
 *
 * @param operator see `pickBuildEnvironment`
 * @param places.certificates where steps find the operator's certificate authorities, if the settings name a file
 * @param places.links how uv gets files from its cache
 */
export const stepEnvironment = (
  operator: Environment,
  places: { readonly home: string; readonly certificates: string | null; readonly links: "clone" | "copy" },
): Environment => ({
  ...operator,
  ...(places.certificates === null ? {} : certificateSettings(places.certificates)),
  HOME: places.home,
  LANG: "C.UTF-8",
  PATH: `${buildImage.dependencies}/bin:/opt/uv:${pythonPrefix}/bin:/usr/local/bin:/usr/bin:/bin`,
  NO_COLOR: "1",
  GIT_TERMINAL_PROMPT: "0",
  VIRTUAL_ENV: buildImage.dependencies,
  UV_PROJECT_ENVIRONMENT: buildImage.dependencies,
  UV_CACHE_DIR: buildImage.cache,
  UV_PYTHON_DOWNLOADS: "never",
  UV_NO_PROGRESS: "1",
  UV_LINK_MODE: places.links,
});

/** Where a step begins: in the code, if it has any. */
export const stepDirectory = (step: BuildStep): string =>
  step.volumes.some(({ path }) => path === buildImage.code) ? buildImage.code : "/tmp";

const certificateSettings = (path: string) => ({
  SSL_CERT_FILE: path,
  REQUESTS_CA_BUNDLE: path,
  PIP_CERT: path,
  GIT_SSL_CAINFO: path,
});
