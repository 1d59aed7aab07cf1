/** Modules whose package has another name. The usual ones; for all others both names are the same. */
const packages: Readonly<Record<string, string>> = {
  attr: "attrs",
  bs4: "beautifulsoup4",
  cv2: "opencv-python-headless",
  dateutil: "python-dateutil",
  decouple: "python-decouple",
  discord: "discord-py",
  docx: "python-docx",
  dotenv: "python-dotenv",
  fitz: "pymupdf",
  git: "gitpython",
  github: "pygithub",
  googleapiclient: "google-api-python-client",
  jose: "python-jose",
  jwt: "pyjwt",
  magic: "python-magic",
  mysqldb: "mysqlclient",
  openssl: "pyopenssl",
  pil: "pillow",
  pptx: "python-pptx",
  psycopg2: "psycopg2-binary",
  serial: "pyserial",
  skimage: "scikit-image",
  sklearn: "scikit-learn",
  slack_sdk: "slack-sdk",
  telegram: "python-telegram-bot",
  yaml: "pyyaml",
  zmq: "pyzmq",
};

/** The package to install for an import, normalized as package names are (PEP 503). */
export function packageFor(module: string): string {
  const top = (module.split(".")[0] ?? module).toLowerCase();
  return packages[top] ?? top.replace(/[-_.]+/g, "-");
}
