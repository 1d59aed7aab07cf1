{{/* Settings that aren't secret, for all roles, as JSON. Empty ones aren't set. */}}
{{- define "towpath.settings" -}}
{{- $v := .Values -}}
{{- $ports := include "towpath.ports" . | fromYaml -}}
{{- $settings := dict
  "TOWPATH_ENVIRONMENT" "production"
  "TOWPATH_SIGTERM" "drain"
  "TOWPATH_URL" (include "towpath.url.dashboard" .)
  "TOWPATH_SERVER_URL" (include "towpath.url.servers" .)
  "TOWPATH_RUN_DIR" "/tmp/run"
  "TOWPATH_RUNNER_ADDRESS" (printf "%s-runner:%v" (include "towpath.name" .) $ports.runner)
  "TOWPATH_RUNNER_LISTEN" (printf "0.0.0.0:%v" $ports.runner)
  "TOWPATH_METRICS_HOST" "0.0.0.0"
  "TOWPATH_WEB_METRICS_PORT" $ports.metrics
  "TOWPATH_GATEWAY_METRICS_PORT" $ports.metrics
  "TOWPATH_WORKER_METRICS_PORT" $ports.metrics
  "TOWPATH_RUNNER_METRICS_PORT" $ports.metrics
  "TOWPATH_PROXIES" (join "," $v.proxies)
  "TOWPATH_GATEWAY_PROXIES" (join "," $v.proxies)
  "TOWPATH_REPOSITORIES" "bundles"
  "TOWPATH_ARTIFACTS" $v.bucket.address
  "TOWPATH_GATEWAY_DRAIN_SECONDS" (int $v.gateway.drainSeconds)
  "TOWPATH_GATEWAY_SPOOL_TO" (printf "%s/request-logs" (trimSuffix "/" $v.bucket.address))
  "TOWPATH_ARTIFACTS_ENDPOINT" $v.bucket.endpoint
  "TOWPATH_ARTIFACTS_REGION" $v.bucket.region
  "TOWPATH_ARTIFACTS_PATH_STYLE" $v.bucket.pathStyle
  "TOWPATH_OIDC_ISSUER" $v.oidc.issuer
  "TOWPATH_OIDC_CLIENT_ID" $v.oidc.clientId
  "TOWPATH_OIDC_SIGN_OUT" (ternary $v.oidc.signOut "" (ne $v.oidc.issuer ""))
  "GITHUB_APP_ID" $v.github.appId
  "GITHUB_APP_SLUG" $v.github.slug
  "GITHUB_CLIENT_ID" $v.github.clientId
  "GITHUB_URL" $v.github.url
  "GITHUB_API_URL" $v.github.apiUrl
  "TOWPATH_MAIL_FROM" $v.mail.from
  "TOWPATH_OTLP_ENDPOINT" $v.tracing.endpoint
  "TOWPATH_WORKLOAD_ISSUER" (ternary "cluster" "" $v.workloads.clusterIssuer)
  "TOWPATH_DRIVER" "kubernetes"
  "TOWPATH_KUBERNETES_NAMESPACE" $v.tenants.namespace
  "TOWPATH_KUBERNETES_IMAGE" (include "towpath.image" (dict "root" . "image" $v.serversImage))
  "TOWPATH_KUBERNETES_IMAGE_PULL_POLICY" $v.serversImage.pullPolicy
  "TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS" (join "," $v.serversImage.pullSecrets)
  "TOWPATH_KUBERNETES_RUNTIME_CLASS" $v.tenants.runtimeClass
  "TOWPATH_KUBERNETES_WAITING_PODS" (ternary "yes" "" (gt (int $v.tenants.waiting.replicas) 0))
  "TOWPATH_KUBERNETES_PREWARMED_PODS" (ternary (toString $v.tenants.waiting.prewarmed) "" (gt (int $v.tenants.waiting.prewarmed) 0))
  "TOWPATH_KUBERNETES_NETWORK_POLICIES" (ternary "require" "" $v.tenants.networkPolicies.required)
  "TOWPATH_KUBERNETES_STORAGE_CLASS" (ternary $v.tenants.data.storageClass "" $v.tenants.data.enabled)
  "TOWPATH_SERVER_DATA_MIB" (ternary (toString $v.tenants.data.mib) "" $v.tenants.data.enabled)
  "TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS" $v.tenants.cache.storageClass
  "TOWPATH_KUBERNETES_CACHE_ACCESS_MODE" (ternary $v.tenants.cache.accessMode "" (ne $v.tenants.cache.storageClass ""))
  "TOWPATH_KUBERNETES_CACHE_MIB" (ternary (toString $v.tenants.cache.mib) "" (ne $v.tenants.cache.storageClass ""))
-}}
{{- $set := dict -}}
{{- range $name, $value := $settings -}}
{{- if ne (toString $value) "" -}}{{- $_ := set $set $name (toString $value) -}}{{- end -}}
{{- end -}}
{{- toJson (dict "ours" (keys $settings) "set" $set) -}}
{{- end -}}
