{{/* Security of every pod: the Pod Security level restricted, and a read-only root. 10001 is the image's user. */}}
{{- define "towpath.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "towpath.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
readOnlyRootFilesystem: true
{{- end -}}

{{/* Where pods may run. Argument: (dict "root" $). */}}
{{- define "towpath.placement" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.scheduling.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.scheduling.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.scheduling.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/*
Probes. Web and gateway aren't ready without the database or routes; a runner that waits for the Lease is. Nothing is restarted because the database is unavailable: only a port that nobody serves.
*/}}
{{- define "towpath.probes" -}}
{{- $path := dict "web" "/healthz" "gateway" "/-/healthz" "runner" "/healthz" "worker" "/-/metrics" -}}
{{- $port := ternary "metrics" "http" (eq .role "worker") -}}
readinessProbe:
  httpGet: { path: {{ get $path .role }}, port: {{ $port }} }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 3
startupProbe:
  tcpSocket: { port: {{ $port }} }
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  tcpSocket: { port: {{ $port }} }
  periodSeconds: 10
  failureThreshold: 6
{{- end -}}
