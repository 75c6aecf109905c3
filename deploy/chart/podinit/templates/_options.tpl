{{- define "podinit.webConfigured" -}}
{{- if or .Values.access.tlsSecret .Values.access.webConfig }}yes{{ end }}
{{- end }}

{{- define "podinit.tls" -}}
{{- if hasKey (include "podinit.webConfig" . | fromYaml) "tls_server_config" }}yes{{ end }}
{{- end }}

{{- define "podinit.webConfig" -}}
{{- if .Values.access.webConfig }}
{{- .Values.access.webConfig }}
{{- else if .Values.access.tlsSecret -}}
tls_server_config:
  cert_file: /etc/podinit/tls/tls.crt
  key_file: /etc/podinit/tls/tls.key
{{ end }}
{{- end }}

{{- /* Namespaces to watch and what of their pods, for podinit itself and for its test. */}}
{{- define "podinit.watchVariables" -}}
{{- with .Values.watch }}
{{- if .ownNamespace }}
- name: PODINIT_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- else if .namespaces }}
- name: PODINIT_NAMESPACE
  value: {{ .namespaces | uniq | sortAlpha | join "," | quote }}
{{- end }}
{{- with .labelSelector }}
- name: PODINIT_LABEL_SELECTOR
  value: {{ . | quote }}
{{- end }}
{{- with .fieldSelector }}
- name: PODINIT_FIELD_SELECTOR
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* More than one process: a StatefulSet. */}}
{{- define "podinit.sharded" -}}
{{- if gt (int .Values.shards) 1 }}yes{{ end }}
{{- end }}

{{- /* The name that a StatefulSet gives the claim of its first pod: from one process to shards, the state goes on. */}}
{{- define "podinit.stateClaimName" -}}
state-{{ include "podinit.fullname" . }}-0
{{- end }}

{{- /* The volume of the state. */}}
{{- define "podinit.stateClaim" -}}
accessModes: [ReadWriteOnce]
{{- with .Values.state.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.state.size }}
{{- end }}

{{- /* Where podinit serves its metrics. */}}
{{- define "podinit.metricsPath" -}}
{{- get .Values.options "metrics-path" | default "/metrics" }}
{{- end }}

{{- define "podinit.variables" -}}
{{- include "podinit.watchVariables" . }}
{{- range $flag, $value := .Values.options }}
- name: PODINIT_{{ $flag | upper | replace "-" "_" }}
  {{- if kindIs "slice" $value }}
  value: {{ join "," $value | quote }}
  {{- else if kindIs "float64" $value }}
  {{- /* Helm reads numbers as floats, and prints large ones as 1e+06. */}}
  value: {{ ternary (int64 $value | toString) (toString $value) (eq $value (floor $value)) | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- if include "podinit.sharded" . }}
{{- /* A variable is expanded only from one that stands before it. */}}
- name: POD_INDEX
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
- name: PODINIT_SHARD
  value: $(POD_INDEX)/{{ .Values.shards }}
{{- end }}
{{- if ne .Values.evidence "none" }}
- name: PODINIT_EVIDENCE
  value: {{ .Values.evidence }}
{{- end }}
{{- if .Values.slo }}
- name: PODINIT_SLO
  value: /etc/podinit/slo/slo.yaml
{{- end }}
{{- if .Values.state.enabled }}
- name: PODINIT_STATE_DIR
  value: /var/lib/podinit
{{- end }}
{{- if include "podinit.webConfigured" . }}
- name: PODINIT_WEB_CONFIG
  value: /etc/podinit/web/web.yaml
{{- end }}
{{- if ne .Values.access.auth "none" }}
- name: PODINIT_AUTH
  value: {{ .Values.access.auth }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "podinit.mounts" -}}
{{- if .Values.slo }}
- name: slo
  mountPath: /etc/podinit/slo
  readOnly: true
{{- end }}
{{- if .Values.state.enabled }}
- name: state
  mountPath: /var/lib/podinit
{{- end }}
{{- if include "podinit.webConfigured" . }}
- name: web
  mountPath: /etc/podinit/web
  readOnly: true
{{- end }}
{{- if .Values.access.tlsSecret }}
- name: tls
  mountPath: /etc/podinit/tls
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "podinit.volumes" -}}
{{- $fullname := include "podinit.fullname" . }}
{{- if .Values.slo }}
- name: slo
  configMap:
    name: {{ $fullname }}-slo
{{- end }}
{{- if and .Values.state.enabled (not (include "podinit.sharded" .)) }}
- name: state
  persistentVolumeClaim:
    claimName: {{ default (include "podinit.stateClaimName" .) .Values.state.existingClaim }}
{{- end }}
{{- if include "podinit.webConfigured" . }}
- name: web
  secret:
    secretName: {{ $fullname }}-web
    defaultMode: 288
{{- end }}
{{- with .Values.access.tlsSecret }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 288
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
