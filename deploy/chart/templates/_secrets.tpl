{{/*
What is secret: for each part of the values, the keys of its Secret, which roles get them, and their values. `required`:
must be there if the part is used; `generated`: made if it isn't given. JSON, so that any value survives.
*/}}
{{- define "towpath.secrets" -}}
{{- $all := list "web" "gateway" "worker" "runner" -}}
{{- $v := .Values -}}
{{- $models := ternary (toJson $v.chat.models) "" (gt (len $v.chat.models) 0) -}}
{{- $gitHub := or $v.github.appId $v.github.slug $v.github.clientId $v.github.clientSecret $v.github.privateKey $v.github.webhookSecret $v.github.existingSecret -}}
{{- dict
  "instance" (dict "existing" $v.instance.existingSecret "used" true "keys" (list
    (dict "key" "TOWPATH_SECRET" "path" "secret" "value" $v.instance.secret "roles" $all "required" true "generated" true)
    (dict "key" "TOWPATH_PREVIOUS_SECRETS" "path" "previousSecrets" "value" (join "," $v.instance.previousSecrets) "roles" $all)
    (dict "key" "TOWPATH_OPERATOR_TOKEN" "path" "operatorToken" "value" $v.instance.operatorToken "roles" (list "web") "required" true "generated" true)))
  "database" (dict "existing" $v.database.existingSecret "used" true "keys" (list
    (dict "key" "DATABASE_URL" "path" "url" "value" $v.database.url "roles" (append $all "migrate") "required" true)
    (dict "key" "DATABASE_DIRECT_URL" "path" "directUrl" "value" $v.database.directUrl "roles" (list "web" "gateway" "worker" "migrate"))))
  "bucket" (dict "existing" $v.bucket.existingSecret "used" true "keys" (list
    (dict "key" "TOWPATH_ARTIFACTS_ACCESS_KEY_ID" "path" "accessKeyId" "value" $v.bucket.accessKeyId "roles" $all "required" true)
    (dict "key" "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY" "path" "secretAccessKey" "value" $v.bucket.secretAccessKey "roles" $all "required" true)))
  "oidc" (dict "existing" $v.oidc.existingSecret "used" (or $v.oidc.issuer $v.oidc.clientId $v.oidc.clientSecret $v.oidc.existingSecret) "keys" (list
    (dict "key" "TOWPATH_OIDC_CLIENT_SECRET" "path" "clientSecret" "value" $v.oidc.clientSecret "roles" (list "web") "required" true)))
  "github" (dict "existing" $v.github.existingSecret "used" $gitHub "keys" (list
    (dict "key" "GITHUB_APP_PRIVATE_KEY" "path" "privateKey" "value" $v.github.privateKey "roles" (list "web" "worker") "required" true)
    (dict "key" "GITHUB_CLIENT_SECRET" "path" "clientSecret" "value" $v.github.clientSecret "roles" (list "web" "worker") "required" true)
    (dict "key" "GITHUB_WEBHOOK_SECRET" "path" "webhookSecret" "value" $v.github.webhookSecret "roles" (list "web" "worker") "required" true)))
  "mail" (dict "existing" $v.mail.existingSecret "used" (or $v.mail.url $v.mail.from $v.mail.existingSecret) "keys" (list
    (dict "key" "TOWPATH_SMTP_URL" "path" "url" "value" $v.mail.url "roles" (list "web" "worker") "required" true)))
  "chat" (dict "existing" $v.chat.existingSecret "used" (or $models $v.chat.existingSecret) "keys" (list
    (dict "key" "TOWPATH_CHAT_MODELS" "path" "models" "value" $models "roles" (list "web" "worker") "required" true)))
  "packageIndex" (dict "existing" $v.packageIndex.existingSecret "used" (or $v.packageIndex.url $v.packageIndex.existingSecret) "keys" (list
    (dict "key" "UV_DEFAULT_INDEX" "path" "url" "value" $v.packageIndex.url "roles" (list "web" "worker") "required" true)))
  "tracing" (dict "existing" $v.tracing.existingSecret "used" (or $v.tracing.headers $v.tracing.existingSecret) "keys" (list
    (dict "key" "TOWPATH_OTLP_HEADERS" "path" "headers" "value" $v.tracing.headers "roles" $all "required" true)))
  | toJson -}}
{{- end -}}

{{/* Argument: (dict "root" $ "part" "bucket"). */}}
{{- define "towpath.secretName" -}}
{{ include "towpath.name" .root }}-{{ .part | kebabcase }}
{{- end -}}

{{/* The secret environment of a role, by reference. Argument: (dict "root" $ "role" "web" "suffix" ""), suffix of our own Secrets' names. */}}
{{- define "towpath.secretEnvironment" -}}
{{- $arg := . -}}
{{- range $part, $secret := include "towpath.secrets" .root | fromJson -}}
{{- range $key := $secret.keys -}}
{{- if and $secret.used (has $arg.role $key.roles) (or $secret.existing $key.value $key.generated) }}
- name: {{ $key.key }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret.existing | default (printf "%s%s" (include "towpath.secretName" (dict "root" $arg.root "part" $part)) $arg.suffix) }}
      key: {{ $key.key }}
      {{- if not $key.required }}
      optional: true
      {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Changes with the secrets of a role that are among the values. Other people may read annotations, so it takes a tenth of a
second to try a value (scrypt). Argument: (dict "root" $ "role" "web").
*/}}
{{- define "towpath.secretChecksum" -}}
{{- $role := .role -}}
{{- $given := list -}}
{{- range $part, $secret := include "towpath.secrets" .root | fromJson -}}
{{- range $key := $secret.keys -}}
{{- if and $secret.used (not $secret.existing) $key.value (has $role $key.roles) -}}
{{- $given = append $given (list $key.key $key.value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- derivePassword 1 "maximum" (toJson $given) "towpath" $role | sha256sum -}}
{{- end -}}
