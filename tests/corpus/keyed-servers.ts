/** A published server that works with one person's key, and the part of its service that a tool asks. */
export type KeyedServer = {
  /** Name and version on the package index. */
  readonly package: string;
  /** What its owner sets for all, at a stand-in for the service at `upstream`. */
  readonly shared: (upstream: string) => Readonly<Record<string, string>>;
  /** What each person enters: values that contain `key`, which the service gets with each request. */
  readonly own: (key: string) => Readonly<Record<string, string>>;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the service answers the account of the key. `path`: with the query. */
  readonly answer: (account: string, path: string) => unknown;
};

const iamUsers = (account: string) => `<ListUsersResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/">
  <ListUsersResult><IsTruncated>false</IsTruncated><Users><member>
    <UserName>${account}</UserName><UserId>AIDA0000000000000001</UserId><Path>/</Path>
    <Arn>arn:aws:iam::000000000000:user/${account}</Arn><CreateDate>2026-01-01T00:00:00Z</CreateDate>
  </member></Users></ListUsersResult>
  <ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata>
</ListUsersResponse>`;

/** Of the corpus: those that need a key and take the address of their service from their own settings. */
export const keyedServers: readonly KeyedServer[] = [
  {
    package: "pagerduty-mcp==1.1.0",
    shared: (upstream) => ({ PAGERDUTY_API_HOST: upstream }),
    own: (key) => ({ PAGERDUTY_USER_API_KEY: key }),
    tool: "get_user_data",
    arguments: {},
    answer: (account) => ({
      user: { id: "P1", type: "user", name: account, email: `${account}@example.com`, role: "user", teams: [] },
    }),
  },
  {
    package: "minimax-coding-plan-mcp==0.0.5",
    shared: (upstream) => ({ MINIMAX_API_HOST: upstream }),
    own: (key) => ({ MINIMAX_API_KEY: key }),
    tool: "web_search",
    arguments: { query: "towpath" },
    answer: (account) => ({ organic: [{ title: account }], base_resp: { status_code: 0, status_msg: "" } }),
  },
  {
    package: "mcp-atlassian==0.23.1",
    shared: (upstream) => ({ JIRA_URL: upstream, ALLOW_GLOBAL_CRED_FALLBACK: "true" }),
    own: (key) => ({ JIRA_PERSONAL_TOKEN: key }),
    tool: "jira_get_link_types",
    arguments: {},
    answer: (account) => ({
      issueLinkTypes: [{ id: "1", name: account, inward: "is blocked by", outward: "blocks" }],
    }),
  },
  {
    package: "opensearch-mcp-server-py==0.12.0",
    shared: (upstream) => ({ OPENSEARCH_URL: upstream }),
    own: (key) => ({ OPENSEARCH_USERNAME: "reader", OPENSEARCH_PASSWORD: key }),
    tool: "ListIndexTool",
    arguments: { include_detail: false },
    answer: (account, path) =>
      path.startsWith("/_cat/indices")
        ? [{ index: account }]
        : { version: { number: "2.19.0", distribution: "opensearch" } },
  },
  {
    package: "awslabs-iam-mcp-server==1.1.2",
    shared: (upstream) => ({ AWS_ENDPOINT_URL: upstream, AWS_DEFAULT_REGION: "us-east-1" }),
    own: (key) => ({ AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: `${key}-secret` }),
    tool: "list_users",
    // Its own code takes its context for an argument.
    arguments: { ctx: { content: [] } },
    answer: (account) => iamUsers(account),
  },
];
