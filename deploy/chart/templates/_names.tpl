{{/* Prefix of all names. */}}
{{- define "towpath.name" -}}
{{- ternary .Release.Name (printf "%s-towpath" .Release.Name) (contains "towpath" .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Argument: (dict "root" $ "part" "web"). Those that select pods never change. */}}
{{- define "towpath.selector" -}}
app.kubernetes.io/name: towpath
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "towpath.labels" -}}
{{ include "towpath.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Argument: (dict "root" $ "image" .Values.image). */}}
{{- define "towpath.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Ports: where each role listens, and what it names its port for metrics. */}}
{{- define "towpath.ports" -}}
web: 3000
gateway: 8080
runner: 9000
metrics: 9090
{{- end -}}

{{- define "towpath.url.dashboard" -}}
{{- if .Values.urls.dashboard -}}{{ .Values.urls.dashboard }}
{{- else -}}{{ ternary "http" "https" (eq .Values.tls.mode "none") }}://{{ .Values.hosts.dashboard }}
{{- end -}}
{{- end -}}

{{- define "towpath.url.servers" -}}
{{- if .Values.urls.servers -}}{{ .Values.urls.servers }}
{{- else -}}{{ ternary "http" "https" (eq .Values.tls.mode "none") }}://{{ .Values.hosts.servers | replace "*" "{name}" }}
{{- end -}}
{{- end -}}

{{/* Secret of the certificate for both hosts. */}}
{{- define "towpath.tls.secret" -}}
{{- eq .Values.tls.mode "secret" | ternary .Values.tls.secretName (printf "%s-tls" (include "towpath.name" .)) -}}
{{- end -}}

{{/* "true" if the chart's own Gateway or Ingress ends HTTPS. */}}
{{- define "towpath.tls.here" -}}
{{- if has .Values.tls.mode (list "certManager" "secret") -}}true{{- end -}}
{{- end -}}
