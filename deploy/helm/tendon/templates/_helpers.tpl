{{- define "tendon.name" -}}
{{- if contains "tendon" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-tendon" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "tendon.selector" -}}
app.kubernetes.io/name: tendon
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tendon.labels" -}}
{{ include "tendon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "tendon.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "tendon.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "tendon.name" .) "default" .Values.serviceAccount.create) }}
{{- end -}}

{{- define "tendon.secret" -}}
{{- $made := .Values.secret.create -}}
{{- if .Values.secret.existing -}}
{{ .Values.secret.existing }}
{{- else if and $made.databaseUrl $made.jwtSecret $made.sessionApiKey -}}
{{ include "tendon.name" . }}
{{- else -}}
{{- fail "set secret.existing to a Secret with databaseUrl, jwtSecret and sessionApiKey, or all three in secret.create" -}}
{{- end -}}
{{- end -}}

{{- define "tendon.sandboxNamespace" -}}
{{ .Values.sandbox.namespace | default .Release.Namespace }}
{{- end -}}

{{- define "tendon.hosts" -}}
{{- $hosts := .Values.allowedHosts -}}
{{- if and .Values.ingress.enabled .Values.ingress.host -}}{{- $hosts = append $hosts .Values.ingress.host -}}{{- end -}}
{{- if .Values.httpRoute.enabled -}}{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}{{- end -}}
{{- $name := include "tendon.name" . -}}
{{- $hosts = concat $hosts (list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace)) -}}
{{ join "," (uniq $hosts) }}
{{- end -}}
