{{/* Refuses values that contradict each other or lack something, all at once: each a sentence with the remedy. */}}
{{- define "towpath.check" -}}
{{- $problems := concat
  (include "towpath.check.exposure" . | fromJsonArray)
  (include "towpath.check.secrets" . | fromJsonArray)
  (include "towpath.check.parts" . | fromJsonArray)
  (include "towpath.check.tenants" . | fromJsonArray)
  (include "towpath.check.settings" . | fromJsonArray) -}}
{{- if $problems -}}
{{- fail (printf "\n\nThese values need attention:\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end -}}

{{- define "towpath.check.exposure" -}}
{{- $v := .Values -}}
{{- $p := list -}}
{{- $published := or $v.gatewayApi.enabled $v.ingress.enabled -}}
{{- if and $v.gatewayApi.enabled $v.ingress.enabled -}}
{{- $p = append $p "gatewayApi.enabled and ingress.enabled are both true, and both would publish the hosts: set one of them to false." -}}
{{- end -}}
{{- if $published -}}
{{- if or $v.urls.dashboard $v.urls.servers -}}
{{- $p = append $p "urls is set, but gatewayApi or ingress publish hosts: empty urls, or set gatewayApi.enabled and ingress.enabled to false." -}}
{{- end -}}
{{- if not $v.hosts.dashboard -}}
{{- $p = append $p "hosts.dashboard is empty: set it to a host name, such as towpath.example.com." -}}
{{- else if contains "*" $v.hosts.dashboard -}}
{{- $p = append $p "hosts.dashboard has an asterisk: set it to one host name, such as towpath.example.com." -}}
{{- end -}}
{{- if not (hasPrefix "*." $v.hosts.servers) -}}
{{- $p = append $p (printf "hosts.servers is %q and not a wildcard host, but each server has a name of its own: set it to an asterisk and a domain, such as *.mcp.example.com." $v.hosts.servers) -}}
{{- else if and $v.hosts.dashboard (eq (trimPrefix "*" $v.hosts.servers) (regexReplaceAll "^[^.]*" $v.hosts.dashboard "")) -}}
{{- $p = append $p "hosts.dashboard is one of hosts.servers, so that a server could have its name: set hosts.servers to another domain." -}}
{{- end -}}
{{- if and (eq $v.tls.mode "secret") (not $v.tls.secretName) -}}
{{- $p = append $p "tls.mode is secret without a Secret: set tls.secretName to the name of one with a certificate for both hosts." -}}
{{- end -}}
{{- if and (eq $v.tls.mode "certManager") (not $v.tls.issuer.name) -}}
{{- $p = append $p "tls.mode is certManager without an issuer: set tls.issuer.name to one that has a DNS-01 solver, or tls.mode to secret." -}}
{{- end -}}
{{- else -}}
{{- if or $v.hosts.dashboard $v.hosts.servers -}}
{{- $p = append $p "hosts is set, but gatewayApi.enabled and ingress.enabled are false: enable one of them, or set urls instead of hosts." -}}
{{- end -}}
{{- if or (not $v.urls.dashboard) (not $v.urls.servers) -}}
{{- $p = append $p "gatewayApi.enabled and ingress.enabled are false and no address leads here: enable one of them, or set urls.dashboard and urls.servers to public addresses." -}}
{{- end -}}
{{- if and $v.urls.servers (not (contains "{name}" $v.urls.servers)) -}}
{{- $p = append $p "urls.servers lacks {name}, where the name of a server goes: set it to an address such as https://{name}.mcp.example.com." -}}
{{- end -}}
{{- end -}}
{{- if and $v.tls.secretName (ne $v.tls.mode "secret") -}}
{{- $p = append $p (printf "tls.secretName is set, but tls.mode is %s: set tls.mode to secret, or empty tls.secretName." $v.tls.mode) -}}
{{- end -}}
{{- if $v.gatewayApi.enabled -}}
{{- if and $v.gatewayApi.className $v.gatewayApi.parentRefs -}}
{{- $p = append $p "gatewayApi.className makes a Gateway and gatewayApi.parentRefs names others: empty one of them." -}}
{{- else if not (or $v.gatewayApi.className $v.gatewayApi.parentRefs) -}}
{{- $p = append $p "gatewayApi has no Gateway: set gatewayApi.className to make one, or gatewayApi.parentRefs to those that exist." -}}
{{- else if and $v.gatewayApi.parentRefs (include "towpath.tls.here" .) -}}
{{- $p = append $p "The Gateways of gatewayApi.parentRefs end HTTPS with certificates of their own: set tls.mode to elsewhere." -}}
{{- end -}}
{{- end -}}
{{- toJson $p -}}
{{- end -}}

{{- define "towpath.check.secrets" -}}
{{- $p := list -}}
{{- range $part, $secret := include "towpath.secrets" . | fromJson -}}
{{- $given := list -}}
{{- $missing := list -}}
{{- range $key := $secret.keys -}}
{{- if $key.value -}}{{- $given = append $given (printf "%s.%s" $part $key.path) -}}
{{- else if and $key.required (not $key.generated) -}}{{- $missing = append $missing (printf "%s.%s" $part $key.path) -}}
{{- end -}}
{{- end -}}
{{- if and $secret.existing $given -}}
{{- $p = append $p (printf "%s.existingSecret is set, and so is %s: empty one of them." $part (join ", " $given)) -}}
{{- else if and $secret.used (not $secret.existing) $missing -}}
{{- $p = append $p (printf "%s needs %s: set it, or %s.existingSecret to a Secret that has it." $part (join " and " $missing) $part) -}}
{{- end -}}
{{- end -}}
{{- range $path := list "secret" "operatorToken" -}}
{{- $value := get $.Values.instance $path -}}
{{- if and $value (lt (len $value) 32) -}}
{{- $p = append $p (printf "instance.%s has fewer than 32 characters: make one by openssl rand -base64 32, or leave it empty." $path) -}}
{{- end -}}
{{- end -}}
{{- toJson $p -}}
{{- end -}}

{{- define "towpath.check.parts" -}}
{{- $v := .Values -}}
{{- $p := list -}}
{{- range $image := list "image" "serversImage" -}}
{{- if not (get $v $image).repository -}}
{{- $p = append $p (printf "%s.repository is empty: build the image from deploy/Dockerfile, push it, and set its name." $image) -}}
{{- end -}}
{{- end -}}
{{- if not $v.bucket.address -}}
{{- $p = append $p "bucket.address is empty, and pods of several nodes share no directory: set it to a bucket, such as s3://towpath." -}}
{{- end -}}
{{- range $all := list
  (dict "part" "oidc" "names" (list "issuer" "clientId"))
  (dict "part" "github" "names" (list "appId" "slug" "clientId"))
  (dict "part" "mail" "names" (list "from")) -}}
{{- $part := get $v $all.part -}}
{{- if (get (include "towpath.secrets" $ | fromJson) $all.part).used -}}
{{- range $name := $all.names -}}
{{- if not (get $part $name) -}}
{{- $p = append $p (printf "%s.%s is empty, but other values of %s are set: set it, or empty them." $all.part $name $all.part) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (not $v.tracing.endpoint) (or $v.tracing.headers $v.tracing.existingSecret) -}}
{{- $p = append $p "tracing has headers and no collector: set tracing.endpoint, or empty the headers." -}}
{{- end -}}
{{- range $role := list "web" "gateway" "worker" -}}
{{- $scaling := (get $v $role).autoscaling -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- $p = append $p (printf "%s.autoscaling.minReplicas is above maxReplicas: raise maxReplicas." $role) -}}
{{- end -}}
{{- end -}}
{{- toJson $p -}}
{{- end -}}

{{- define "towpath.check.tenants" -}}
{{- $t := .Values.tenants -}}
{{- $p := list -}}
{{- if eq $t.namespace .Release.Namespace -}}
{{- $p = append $p (printf "tenants.namespace is the release's own namespace, %s, which has secrets of the platform: set it to another one." $t.namespace) -}}
{{- end -}}
{{- if and $t.data.enabled (not $t.data.storageClass) -}}
{{- $p = append $p "tenants.data.enabled is true without a StorageClass: set tenants.data.storageClass to one that kubectl get storageclass lists." -}}
{{- else if and $t.data.storageClass (not $t.data.enabled) -}}
{{- $p = append $p "tenants.data.storageClass is set, but tenants.data.enabled is false: set it to true, or empty the class." -}}
{{- end -}}
{{- range $class := list $t.data.storageClass $t.cache.storageClass -}}
{{- if and $class $t.createNamespace -}}
{{- /* Only who may make namespaces is likely to be allowed to look. Without a cluster nothing is found, not even kube-system. */ -}}
{{- if and (lookup "v1" "Namespace" "" "kube-system") (not (lookup "storage.k8s.io/v1" "StorageClass" "" $class)) -}}
{{- $p = append $p (printf "This cluster has no StorageClass %s: set tenants.data.storageClass and tenants.cache.storageClass to those that kubectl get storageclass lists." $class) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $t.networkPolicies -}}
{{- if and .enabled (not .dns) -}}
{{- $p = append $p "tenants.networkPolicies.dns is empty, so servers could resolve no name: list the addresses that /etc/resolv.conf of the nodes has, such as [10.0.0.2]." -}}
{{- end -}}
{{- with $.Values.tenants.waiting -}}
{{- if and (gt (int .prewarmed) 0) (lt (int .replicas) 2) -}}
{{- $p = append $p "tenants.waiting.prewarmed is set, but interpreters leave one waiting pod to servers: set tenants.waiting.replicas to 2 or more, or prewarmed to 0." -}}
{{- end -}}
{{- end -}}
{{- if and (not .enabled) (or .dns .allow .deny) -}}
{{- $p = append $p "tenants.networkPolicies.enabled is false, but dns, allow or deny are set: set it to true, or empty them." -}}
{{- end -}}
{{- range .allow -}}
{{- if or (hasPrefix "169.254." .cidr) (hasSuffix "/0" .cidr) -}}
{{- $p = append $p (printf "tenants.networkPolicies.allow has %s, which would open the metadata of the cloud to servers: name only the network that they need." .cidr) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $p -}}
{{- end -}}

{{/* Names that the chart or the image sets, and names of secrets, have values of their own. */}}
{{- define "towpath.check.settings" -}}
{{- $p := list -}}
{{- $ours := concat (include "towpath.settings" . | fromJson).ours (list "TOWPATH_DATA_DIR" "TOWPATH_DOMAIN" "TOWPATH_HOST" "TOWPATH_PORT" "TOWPATH_GATEWAY_HOST" "TOWPATH_GATEWAY_PORT" "TOWPATH_KUBERNETES_CONFIG") -}}
{{- $secret := list -}}
{{- range $part := include "towpath.secrets" . | fromJson -}}
{{- range $key := $part.keys -}}{{- $secret = append $secret $key.key -}}{{- end -}}
{{- end -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name $ours -}}
{{- $p = append $p (printf "settings.%s is set by the chart from other values: set those, and remove it here." $name) -}}
{{- else if or (has $name $secret) (regexMatch "(SECRET|PASSWORD|TOKEN|PRIVATE_KEY)" $name) (regexMatch "://[^/@]*:[^/@]*@" (toString $value)) -}}
{{- $p = append $p (printf "settings.%s is secret, and settings go into a ConfigMap: set it by the value that has a Secret, see docs/kubernetes.md." $name) -}}
{{- end -}}
{{- end -}}
{{- toJson $p -}}
{{- end -}}
