/** Times are ISO 8601 text or, where they are compared, milliseconds. Tokens and codes are kept as SHA-256 only. */
export const tables = `
CREATE TABLE account (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  login TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT,
  email TEXT,
  created_at TEXT NOT NULL
);
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE repository (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL REFERENCES account(id),
  name TEXT NOT NULL COLLATE NOCASE,
  description TEXT,
  private INTEGER NOT NULL,
  default_branch TEXT NOT NULL,
  made_by TEXT CHECK (made_by IN ('person', 'terminal')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (owner_id, name)
);
CREATE TABLE known_ref (
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (repository_id, name)
);
CREATE TABLE installation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL UNIQUE REFERENCES account(id),
  selection TEXT NOT NULL CHECK (selection IN ('all', 'selected')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE TABLE installation_repository (
  installation_id INTEGER NOT NULL REFERENCES installation(id) ON DELETE CASCADE,
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  PRIMARY KEY (installation_id, repository_id)
);
CREATE TABLE installation_token (
  token_hash TEXT PRIMARY KEY,
  installation_id INTEGER NOT NULL REFERENCES installation(id) ON DELETE CASCADE,
  repository_ids TEXT,
  permissions TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE oauth_grant (
  account_id INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
  created_at TEXT NOT NULL
);
CREATE TABLE oauth_code (
  code_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  expires_at_ms INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE user_token (
  token_hash TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  code_hash TEXT,
  expires_at_ms INTEGER NOT NULL
);
CREATE TABLE pull_request (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT,
  head TEXT NOT NULL,
  base TEXT NOT NULL,
  head_sha TEXT NOT NULL,
  base_sha TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  author_id INTEGER NOT NULL REFERENCES account(id),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at TEXT,
  UNIQUE (repository_id, number)
);
CREATE TABLE annotation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES repository(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX annotation_subject ON annotation (repository_id, kind, subject);
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  guid TEXT NOT NULL,
  event TEXT NOT NULL,
  action TEXT,
  installation_id INTEGER,
  repository_id INTEGER,
  body TEXT NOT NULL,
  redelivery INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  status_code INTEGER NOT NULL DEFAULT 0,
  delivered_at TEXT NOT NULL
);
CREATE INDEX delivery_due ON delivery (state, next_attempt_at_ms);
`;
